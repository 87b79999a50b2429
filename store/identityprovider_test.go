package store

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// An identityProvider is an OpenID provider on 127.0.0.1 that signs tokens as a cluster does for
// service accounts.
type identityProvider struct {
	server *httptest.Server
	key    *rsa.PrivateKey
}

func startIdentityProvider(t *testing.T) *identityProvider {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	p := &identityProvider{key: key, server: httptest.NewUnstartedServer(mux)}
	issuer := "http://" + p.server.Listener.Addr().String()
	answer := func(w http.ResponseWriter, body any) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(body)
	}
	mux.HandleFunc("/.well-known/openid-configuration", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{
			"issuer": issuer, "jwks_uri": issuer + "/keys",
			"response_types_supported": []string{"id_token"}, "subject_types_supported": []string{"public"},
			"id_token_signing_alg_values_supported": []string{"RS256"},
		})
	})
	mux.HandleFunc("/keys", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, map[string]any{"keys": []map[string]string{{
			"kty": "RSA", "alg": "RS256", "use": "sig", "kid": "one",
			"n": base64.RawURLEncoding.EncodeToString(key.N.Bytes()),
			"e": base64.RawURLEncoding.EncodeToString(big.NewInt(int64(key.E)).Bytes()),
		}}})
	})
	p.server.Start()
	t.Cleanup(p.server.Close)
	return p
}

// token is an identity token of a service account.
func (p *identityProvider) token(t *testing.T, subject, audience string, lifetime time.Duration) string {
	t.Helper()
	part := func(v any) string {
		raw, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		return base64.RawURLEncoding.EncodeToString(raw)
	}
	now := time.Now()
	signed := part(map[string]any{"alg": "RS256", "kid": "one", "typ": "JWT"}) + "." + part(map[string]any{
		"iss": p.server.URL, "aud": []string{audience}, "sub": subject,
		"iat": now.Add(-2 * time.Hour).Unix(), "nbf": now.Add(-2 * time.Hour).Unix(), "exp": now.Add(lifetime).Unix(),
	})
	digest := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, p.key, crypto.SHA256, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature)
}

// writeToken puts a token into a file as the kubelet does: in one step.
func writeToken(t *testing.T, file, token string) {
	t.Helper()
	temporary := filepath.Join(filepath.Dir(file), ".new")
	if err := os.WriteFile(temporary, []byte(token), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(temporary, file); err != nil {
		t.Fatal(err)
	}
}
