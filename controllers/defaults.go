package controllers

import "k8s.io/apimachinery/pkg/api/resource"

// The defaults of the CRD, for objects that were stored before it had them.
const (
	defaultGracePeriodSeconds    = 120
	defaultCollectTimeoutSeconds = 300
	defaultFanIn                 = 256
)

var defaultSpoolSize = resource.MustParse("2Gi")
