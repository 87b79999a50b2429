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

// Server is a MinIO server, and the key of its administrator.
type Server struct {
	Endpoint             string
	AccessKey, SecretKey string
}

// User is a user of the server, who may do what Policy says.
type User struct {
	AccessKey, SecretKey string
	Policy               []byte
}

// EnsureUser makes a user, or gives an existing one this key and policy.
func (s Server) EnsureUser(ctx context.Context, u User) error {
	if err := s.put(ctx, "add-canned-policy", url.Values{"name": {u.AccessKey}}, u.Policy); err != nil {
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
	if err := s.put(ctx, "add-user", url.Values{"accessKey": {u.AccessKey}}, sealed); err != nil {
		return err
	}
	return s.put(ctx, "set-user-or-group-policy", url.Values{
		"policyName": {u.AccessKey}, "userOrGroup": {u.AccessKey}, "isGroup": {"false"},
	}, nil)
}

// put sends an admin request.
func (s Server) put(ctx context.Context, operation string, query url.Values, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPut,
		s.Endpoint+"/minio/admin/v3/"+operation+"?"+query.Encode(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(body)
	request.Header.Set("X-Amz-Content-Sha256", hex.EncodeToString(sum[:]))
	request = signer.SignV4(*request, s.AccessKey, s.SecretKey, "", "us-east-1")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		answer, _ := io.ReadAll(io.LimitReader(response.Body, 512))
		return fmt.Errorf("MinIO refuses %s: %s: %s", operation, response.Status, answer)
	}
	return nil
}
