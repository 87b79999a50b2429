package minioadmin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"

	"github.com/minio/minio-go/v7/pkg/signer"
)

// Server is a MinIO server with the key of its administrator.
type Server struct {
	Endpoint             string
	AccessKey, SecretKey string
}

// User is a user of the server with a policy.
type User struct {
	AccessKey, SecretKey string
	Policy               []byte
}

// EnsureUser creates a user, or gives an existing one this key and policy.
func (s Server) EnsureUser(ctx context.Context, u User) error {
	if err := s.EnsurePolicy(ctx, u.AccessKey, u.Policy); err != nil {
		return err
	}
	request, err := json.Marshal(map[string]string{"secretKey": u.SecretKey, "status": "enabled"})
	if err != nil {
		return err
	}
	sealed, err := seal(s.SecretKey, request)
	if err != nil {
		return err
	}
	if _, err := s.send(ctx, http.MethodPut, "add-user", url.Values{"accessKey": {u.AccessKey}}, sealed); err != nil {
		return err
	}
	_, err = s.send(ctx, http.MethodPut, "set-user-or-group-policy", url.Values{
		"policyName": {u.AccessKey}, "userOrGroup": {u.AccessKey}, "isGroup": {"false"},
	}, nil)
	return err
}

// EnsurePolicy creates or updates a policy.
func (s Server) EnsurePolicy(ctx context.Context, name string, policy []byte) error {
	_, err := s.send(ctx, http.MethodPut, "add-canned-policy", url.Values{"name": {name}}, policy)
	return err
}

// A refusal is a response with a status other than 200.
type refusal struct {
	operation, status string
	Code, Message     string
}

func (r *refusal) Error() string {
	return fmt.Sprintf("MinIO refuses %s: %s: %s: %s", r.operation, r.status, r.Code, r.Message)
}

// send sends an admin request and returns the body of the response.
func (s Server) send(ctx context.Context, method, operation string, query url.Values, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method,
		s.Endpoint+"/minio/admin/v3/"+operation+"?"+query.Encode(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(body)
	request.Header.Set("X-Amz-Content-Sha256", hex.EncodeToString(sum[:]))
	request = signer.SignV4(*request, s.AccessKey, s.SecretKey, "", "us-east-1")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		refused := &refusal{operation: operation, status: response.Status}
		if json.Unmarshal(answer, refused) != nil {
			refused.Message = string(answer[:min(len(answer), 512)])
		}
		return nil, refused
	}
	return answer, nil
}

// maxAnswer is larger than the policies of thousands of users.
const maxAnswer = 64 << 20
