package chart

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// find parses the rendered object of a kind and name; it must be there.
func find(t *testing.T, rendered, kind, name string, into any) {
	t.Helper()
	for _, document := range strings.Split(rendered, "\n---\n") {
		var head struct {
			Kind     string
			Metadata struct{ Name string }
		}
		require.NoError(t, yaml.Unmarshal([]byte(document), &head))
		if head.Kind == kind && head.Metadata.Name == name {
			require.NoError(t, yaml.UnmarshalStrict([]byte(document), into))
			return
		}
	}
	t.Fatalf("no %s %s is rendered", kind, name)
}

func deployment(t *testing.T, rendered, name string) appsv1.Deployment {
	t.Helper()
	var d appsv1.Deployment
	find(t, rendered, "Deployment", name, &d)
	return d
}

func containers(d appsv1.Deployment) []corev1.Container {
	return append(append([]corev1.Container{}, d.Spec.Template.Spec.InitContainers...), d.Spec.Template.Spec.Containers...)
}

var withMinIO = []string{"--set", "minio.enabled=true", "--set", "jobNamespaces={team-a,team-b}"}

// variants are the ways of using the chart that differ most.
var variants = map[string][]string{
	"default":              nil,
	"storage of one's own": {"--set", "storage.s3.bucket=traces,storage.s3.endpoint=https://s3.example.org"},
	"web identity":         {"--set", "storage.s3.bucket=traces,storage.s3.webIdentity.roleARN=arn:aws:iam::1:role/traces"},
	"minio":                withMinIO,
	"keys of one's own":    append([]string{"--set", "minio.existingSecret=my-admin,minio.existingUserSecrets=true"}, withMinIO...),
	"openshift":            append([]string{"--set", "minio.runAsUser=null"}, withMinIO...),
	"everything": append([]string{"--set", "minio.persistence.enabled=true,operator.replicas=2,operator.metrics.service=true",
		"--set", "operator.extraEnv[0].name=HTTPS_PROXY,operator.extraEnv[0].value=http://proxy:3128"}, withMinIO...),
}

// TestRenderedTwice: the output of helm template, which Argo CD applies, is the same each time and
// contains no key.
func TestRenderedTwice(t *testing.T) {
	t.Parallel()
	for name, arguments := range variants {
		t.Run(name, func(t *testing.T) {
			first := template(t, arguments...)
			again, err := tryTemplate(t, arguments...)
			require.NoError(t, err, again)
			require.Equal(t, first, again)
			for _, document := range strings.Split(first, "\n---\n") {
				var object struct {
					Kind     string
					Metadata struct{ Annotations map[string]string }
					Data     map[string]any
				}
				require.NoError(t, yaml.Unmarshal([]byte(document), &object))
				if object.Kind == "Secret" {
					require.Empty(t, object.Data)
					require.Equal(t, "keep", object.Metadata.Annotations["helm.sh/resource-policy"])
				}
			}
		})
	}
}

// TestPodsOfTheChart: properties of every container, for all ways of using the chart.
func TestPodsOfTheChart(t *testing.T) {
	t.Parallel()
	for name, arguments := range variants {
		t.Run(name, func(t *testing.T) {
			rendered := template(t, arguments...)
			names := []string{"cairn-operator"}
			if strings.Contains(rendered, "name: cairn-minio\n") {
				names = append(names, "cairn-minio")
			}
			for _, name := range names {
				d := deployment(t, rendered, name)
				require.True(t, *d.Spec.Template.Spec.SecurityContext.RunAsNonRoot)
				require.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, d.Spec.Template.Spec.SecurityContext.SeccompProfile.Type)
				for _, c := range containers(d) {
					requireRestricted(t, c)
					requirePatience(t, c)
				}
			}
		})
	}
}

func requireRestricted(t *testing.T, c corev1.Container) {
	t.Helper()
	require.False(t, *c.SecurityContext.AllowPrivilegeEscalation, c.Name)
	require.True(t, *c.SecurityContext.ReadOnlyRootFilesystem, c.Name)
	require.Equal(t, []corev1.Capability{"ALL"}, c.SecurityContext.Capabilities.Drop, c.Name)
	require.False(t, c.Resources.Limits.Memory().IsZero(), c.Name)
	require.Empty(t, c.EnvFrom, c.Name)
	for _, e := range c.Env {
		require.Nil(t, e.ValueFrom, "%s: no Secret is in the environment: %s", c.Name, e.Name)
	}
}

// requirePatience checks that a busy container is not killed by its probes.
func requirePatience(t *testing.T, c corev1.Container) {
	t.Helper()
	if c.LivenessProbe == nil {
		return
	}
	live := c.LivenessProbe
	require.GreaterOrEqual(t, live.TimeoutSeconds, int32(10), c.Name)
	require.GreaterOrEqual(t, live.FailureThreshold, int32(6), c.Name)
	require.GreaterOrEqual(t, live.PeriodSeconds*live.FailureThreshold, int32(180), "%s: minutes", c.Name)
	require.Zero(t, live.InitialDelaySeconds, c.Name)
	start := c.StartupProbe
	require.NotNil(t, start, c.Name)
	require.GreaterOrEqual(t, start.PeriodSeconds*start.FailureThreshold, int32(180), c.Name)
	require.GreaterOrEqual(t, start.TimeoutSeconds, int32(10), c.Name)
}

func TestProbesAreThere(t *testing.T) {
	t.Parallel()
	rendered := template(t, withMinIO...)
	for name, path := range map[string]string{"cairn-operator": "/healthz", "cairn-minio": "/minio/health/live"} {
		c := deployment(t, rendered, name).Spec.Template.Spec.Containers[0]
		require.Equal(t, path, c.LivenessProbe.HTTPGet.Path)
		require.NotNil(t, c.ReadinessProbe, name)
	}
}

// TestOnlyTwoContainersHaveAToken: MinIO itself, which the whole cluster can reach, has none.
func TestOnlyTwoContainersHaveAToken(t *testing.T) {
	t.Parallel()
	d := deployment(t, template(t, withMinIO...), "cairn-minio")
	pod := d.Spec.Template.Spec
	require.False(t, *pod.AutomountServiceAccountToken)
	var holders []string
	for _, c := range containers(d) {
		for _, m := range c.VolumeMounts {
			if m.MountPath == "/var/run/secrets/kubernetes.io/serviceaccount" {
				holders = append(holders, c.Name)
			}
		}
	}
	require.Equal(t, []string{"keys", "users"}, holders)
}

func TestRolesNameTheirSecrets(t *testing.T) {
	t.Parallel()
	for name, variant := range map[string]struct {
		arguments []string
		roles     map[string][]rbacv1.PolicyRule
	}{
		"filled in the cluster": {withMinIO, map[string][]rbacv1.PolicyRule{
			"cairn-minio-admin-key": {{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"cairn-minio"}, Verbs: []string{"get", "patch"}}},
			"cairn-minio-user-key":  {{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"cairn-storage"}, Verbs: []string{"get", "patch"}}},
		}},
		"of one's own": {variants["keys of one's own"], map[string][]rbacv1.PolicyRule{
			"cairn-minio-user-key": {{APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{"cairn-storage"}, Verbs: []string{"get"}}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			rendered := template(t, variant.arguments...)
			for role, rules := range variant.roles {
				var got rbacv1.Role
				find(t, rendered, "Role", role, &got)
				require.Equal(t, rules, got.Rules)
			}
			require.Equal(t, len(variant.roles) > 1, strings.Contains(rendered, "cairn-minio-admin-key"))
		})
	}
}

func TestUserProvidedKeys(t *testing.T) {
	t.Parallel()
	rendered := template(t, variants["keys of one's own"]...)
	require.NotContains(t, rendered, "kind: Secret\n", "nothing is made")
	d := deployment(t, rendered, "cairn-minio")
	for _, c := range d.Spec.Template.Spec.InitContainers {
		require.NotEqual(t, "keys", c.Name)
	}
	for _, v := range d.Spec.Template.Spec.Volumes {
		if v.Name == "admin" {
			require.Equal(t, "my-admin", v.Secret.SecretName)
			require.Nil(t, v.Secret.Optional, "without its key MinIO would start with one that everybody knows")
		}
	}
	require.Contains(t, d.Spec.Template.Spec.Containers[1].Args, "--existing-secrets")
}

func TestRunAsUser(t *testing.T) {
	t.Parallel()
	for argument, want := range map[string]*int64{"": ptr(65532), "minio.runAsUser=1000650000": ptr(1000650000), "minio.runAsUser=null": nil} {
		arguments := withMinIO
		if argument != "" {
			arguments = append([]string{"--set", argument}, withMinIO...)
		}
		d := deployment(t, template(t, arguments...), "cairn-minio")
		security := d.Spec.Template.Spec.SecurityContext
		require.Equal(t, []*int64{want, want, want}, []*int64{security.RunAsUser, security.RunAsGroup, security.FSGroup}, argument)
		for _, c := range containers(d) {
			require.Nil(t, c.SecurityContext.RunAsUser)
		}
	}
}

func ptr(n int64) *int64 { return &n }

func TestWebIdentityOfTheOperator(t *testing.T) {
	t.Parallel()
	operator := func(arguments ...string) []string {
		return deployment(t, template(t, arguments...), "cairn-operator").Spec.Template.Spec.Containers[0].Args
	}
	arguments := operator("--set", "storage.s3.bucket=traces,storage.s3.endpoint=https://minio:9000",
		"--set", "storage.s3.webIdentity.audience=minio,storage.s3.webIdentity.stsEndpoint=https://sts:9000")
	require.Subset(t, arguments, []string{"--s3-web-identity-audience=minio", "--s3-web-identity-sts-endpoint=https://sts:9000"})
	require.Contains(t, operator(variants["web identity"]...), "--s3-web-identity-role-arn=arn:aws:iam::1:role/traces")
	require.Contains(t, operator("--set", "storage.s3.bucket=traces,storage.s3.endpoint=https://minio:9000", "--set-json", "storage.s3.webIdentity={}"),
		"--s3-web-identity-audience=sts.amazonaws.com")
	require.NotContains(t, strings.Join(operator("--set", "storage.s3.bucket=traces"), " "), "web-identity")
}

func TestValuesThatAreRefused(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		arguments []string
		want      string
	}{
		"unknown value":           {[]string{"--set", "minio.existingsecret=x"}, "existingsecret"},
		"unknown below identity":  {[]string{"--set", "storage.s3.webIdentity.role=x"}, "role"},
		"STS without scheme":      {[]string{"--set", "storage.s3.webIdentity.stsEndpoint=sts"}, "stsEndpoint"},
		"root":                    {append([]string{"--set", "minio.runAsUser=0"}, withMinIO...), "runAsUser"},
		"AWS without a role":      {[]string{"--set", "storage.s3.bucket=b", "--set-json", "storage.s3.webIdentity={}"}, "roleARN is missing"},
		"identity and MinIO":      {append([]string{"--set", "storage.s3.webIdentity.audience=x"}, withMinIO...), "choose one"},
		"two stores":              {append([]string{"--set", "storage.s3.bucket=b"}, withMinIO...), "choose one"},
		"endpoint without bucket": {[]string{"--set", "storage.s3.endpoint=https://x"}, "storage.s3.bucket"},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := tryTemplate(t, test.arguments...)
			require.Error(t, err)
			require.Contains(t, out, test.want)
		})
	}
}
