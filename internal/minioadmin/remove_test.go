package minioadmin

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/stretchr/testify/require"

	"github.com/cairn-mpi/cairn/store"
)

// addUser makes a user as an administrator would, with policies of any name.
func (s Server) addUser(t *testing.T, name, secretKey, policies string) User {
	t.Helper()
	ctx := context.Background()
	request, err := json.Marshal(map[string]string{"secretKey": secretKey, "status": "enabled"})
	require.NoError(t, err)
	sealed, err := seal(s.SecretKey, request)
	require.NoError(t, err)
	_, err = s.send(ctx, http.MethodPut, "add-user", url.Values{"accessKey": {name}}, sealed)
	require.NoError(t, err)
	_, err = s.send(ctx, http.MethodPut, "set-user-or-group-policy",
		url.Values{"policyName": {policies}, "userOrGroup": {name}, "isGroup": {"false"}}, nil)
	require.NoError(t, err)
	return User{AccessKey: name, SecretKey: secretKey}
}

func TestOnlyOwnUsersAreRemoved(t *testing.T) {
	ctx := context.Background()
	server := startMinIO(t)
	mine := User{AccessKey: "cairn-team-a", SecretKey: "secret-of-team-a"}
	var err error
	mine.Policy, err = PrefixPolicy("traces", "lab/team-a")
	require.NoError(t, err)
	require.Eventually(t, func() bool { return server.EnsureUser(ctx, mine) == nil }, 20*time.Second, 50*time.Millisecond)

	// somebody else's users, one as like ours as can be without being it
	everything := []byte(`{"Version":"2012-10-17","Statement":[{"Effect":"Allow","Action":["s3:*"],"Resource":["arn:aws:s3:::*"]}]}`)
	otherPrefix, err := PrefixPolicy("traces", "lab/elsewhere")
	require.NoError(t, err)
	require.NoError(t, server.EnsurePolicy(ctx, "cairn-admin", everything))
	require.NoError(t, server.EnsurePolicy(ctx, "cairn-guest", otherPrefix))
	require.NoError(t, server.EnsurePolicy(ctx, "cairn-team-b", mine.Policy))
	others := []User{
		server.addUser(t, "somebody", "secret-of-somebody", "readwrite"),
		server.addUser(t, "cairn-reader", "secret-of-reader", "readwrite"),
		server.addUser(t, "cairn-admin", "secret-of-admin", "cairn-admin"),
		server.addUser(t, "cairn-guest", "secret-of-guest", "cairn-guest"),
		server.addUser(t, "cairn-team-b", "secret-of-team-b", "cairn-team-b,readwrite"),
	}

	owned, err := server.Owned(ctx, "cairn-")
	require.NoError(t, err)
	require.Equal(t, []string{"cairn-team-a"}, owned)

	// a key that the user made from its own goes with it
	session, err := credentials.NewSTSAssumeRole(server.Endpoint, credentials.STSAssumeRoleOptions{AccessKey: mine.AccessKey, SecretKey: mine.SecretKey})
	require.NoError(t, err)
	temporary, err := session.GetWithContext(nil)
	require.NoError(t, err)
	require.NoError(t, store.Check(ctx, server.asSession(t, temporary, "lab/team-a")))

	require.NoError(t, server.RemoveUser(ctx, "cairn-team-a"))
	require.Equal(t, store.AccessDenied, store.ReasonOf(store.Check(ctx, server.as(t, mine, "lab/team-a"))))
	require.Equal(t, store.AccessDenied, store.ReasonOf(store.Check(ctx, server.asSession(t, temporary, "lab/team-a"))))
	for _, user := range others {
		prefix := "lab/anywhere"
		if user.AccessKey == "cairn-guest" {
			prefix = "lab/elsewhere"
		}
		require.NoError(t, store.Check(ctx, server.as(t, user, prefix)), user.AccessKey)
	}
	owned, err = server.Owned(ctx, "cairn-")
	require.NoError(t, err)
	require.Empty(t, owned, "the policy is gone, too")
	require.NoError(t, server.RemoveUser(ctx, "cairn-team-a"), "a second time changes nothing")
}

// TestInterruptedRemovalIsContinued: the user is gone, its policy is not.
func TestInterruptedRemovalIsContinued(t *testing.T) {
	ctx := context.Background()
	server := startMinIO(t)
	policy, err := PrefixPolicy("traces", "team-a")
	require.NoError(t, err)
	require.Eventually(t, func() bool { return server.EnsurePolicy(ctx, "cairn-team-a", policy) == nil }, 20*time.Second, 50*time.Millisecond)
	owned, err := server.Owned(ctx, "cairn-")
	require.NoError(t, err)
	require.Equal(t, []string{"cairn-team-a"}, owned)
	require.NoError(t, server.RemoveUser(ctx, owned[0]))
	owned, err = server.Owned(ctx, "cairn-")
	require.NoError(t, err)
	require.Empty(t, owned)
}
