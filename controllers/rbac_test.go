package controllers

import (
	"os"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/yaml"
)

// operatorConfig is that of a user who may do what config/rbac/role.yaml says.
func (s *stage) operatorConfig() *rest.Config {
	s.Helper()
	raw, err := os.ReadFile("../config/rbac/role.yaml")
	require.NoError(s, err)
	role := &rbacv1.ClusterRole{}
	require.NoError(s, yaml.UnmarshalStrict(raw, role))
	role.Name = s.namespace
	require.NoError(s, s.Create(s.ctx, role))
	require.NoError(s, s.Create(s.ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: role.Name},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: s.namespace}},
	}))
	config := rest.CopyConfig(server.Config)
	config.Impersonate = rest.ImpersonationConfig{UserName: s.namespace}
	return config
}
