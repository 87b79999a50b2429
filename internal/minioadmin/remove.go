package minioadmin

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
)

// Owned returns the users that EnsureUser created with a policy of PrefixPolicy for a prefix that
// ends in the user's name without head. It recognizes them by a policy with the user's own name
// that allows nothing but one prefix.
func (s Server) Owned(ctx context.Context, head string) ([]string, error) {
	answer, err := s.send(ctx, http.MethodGet, "list-canned-policies", nil, nil)
	if err != nil {
		return nil, err
	}
	var policies map[string]json.RawMessage
	if err := json.Unmarshal(answer, &policies); err != nil {
		return nil, fmt.Errorf("MinIO's list of policies cannot be read: %w", err)
	}
	var owned []string
	for name, policy := range policies {
		rest, ours := strings.CutPrefix(name, head)
		if !ours || !isPrefixPolicy(policy, rest) {
			continue
		}
		only, err := s.hasOnly(ctx, name)
		if err != nil {
			return nil, err
		}
		if only {
			owned = append(owned, name)
		}
	}
	slices.Sort(owned)
	return owned, nil
}

// hasOnly reports whether the user with a name has the policy with that name and no other, or does
// not exist: then the removal of the user was interrupted.
func (s Server) hasOnly(ctx context.Context, name string) (bool, error) {
	answer, err := s.send(ctx, http.MethodGet, "user-info", url.Values{"accessKey": {name}}, nil)
	if isNoSuchUser(err) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	var user struct {
		PolicyName string `json:"policyName"`
	}
	if err := json.Unmarshal(answer, &user); err != nil {
		return false, fmt.Errorf("MinIO's data on user %s cannot be read: %w", name, err)
	}
	return user.PolicyName == name, nil
}

// RemoveUser removes a user, all access keys that the user created, and its policy.
func (s Server) RemoveUser(ctx context.Context, name string) error {
	if _, err := s.send(ctx, http.MethodDelete, "remove-user", url.Values{"accessKey": {name}}, nil); err != nil && !isNoSuchUser(err) {
		return err
	}
	_, err := s.send(ctx, http.MethodDelete, "remove-canned-policy", url.Values{"name": {name}}, nil)
	return err
}

func isNoSuchUser(err error) bool {
	var refused *refusal
	return errors.As(err, &refused) && refused.Code == "XMinioAdminNoSuchUser"
}

// isPrefixPolicy reports whether a policy is one of PrefixPolicy for a prefix that ends in last.
func isPrefixPolicy(raw json.RawMessage, last string) bool {
	theirs, ok := normalized(raw)
	if !ok || len(theirs) != 3 {
		return false
	}
	for _, statement := range theirs {
		for _, resource := range statement.Resource {
			bucket, prefix, found := strings.Cut(strings.TrimPrefix(resource, "arn:aws:s3:::"), "/")
			prefix = strings.TrimSuffix(prefix, "/*")
			if !found || path.Base(prefix) != last {
				continue
			}
			wanted, err := PrefixPolicy(bucket, prefix)
			if err != nil {
				return false
			}
			ours, _ := normalized(wanted)
			return equal(ours, theirs)
		}
	}
	return false
}

// normalized returns the statements of a policy in a fixed order: MinIO does not keep the original
// one.
func normalized(raw []byte) ([]statement, bool) {
	var policy struct{ Statement []statement }
	if json.Unmarshal(raw, &policy) != nil {
		return nil, false
	}
	for _, s := range policy.Statement {
		slices.Sort(s.Action)
		slices.Sort(s.Resource)
	}
	slices.SortFunc(policy.Statement, func(a, b statement) int {
		return strings.Compare(strings.Join(a.Action, " "), strings.Join(b.Action, " "))
	})
	return policy.Statement, true
}

func equal(a, b []statement) bool {
	left, leftErr := json.Marshal(a)
	right, rightErr := json.Marshal(b)
	return leftErr == nil && rightErr == nil && bytes.Equal(left, right)
}
