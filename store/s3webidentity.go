package store

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/minio/minio-go/v7/pkg/credentials"
)

// WebIdentity exchanges an identity token for temporary keys at a security token service (STS),
// with AssumeRoleWithWebIdentity. In a pod the token is a projected one of its service account,
// which the kubelet renews.
type WebIdentity struct {
	TokenFile   string // read for every exchange; "": no web identity
	RoleARN     string // role that the keys are for; AWS requires one, MinIO may decide by the token's claims
	STSEndpoint string // URL; "": AWS's own for AWS, and the S3 endpoint for other stores, like MinIO
}

const (
	// exchangeTimeout limits one exchange, which callers' contexts cannot cancel.
	exchangeTimeout = 30 * time.Second
	// exchangeAgain is the pause after a failed exchange while the last keys are still valid.
	exchangeAgain = 10 * time.Second
)

// identityKeys is a credentials.Provider that exchanges a token for keys, and again when a fifth of
// their lifetime is left. If the STS is unavailable then, the last keys are used until they expire.
type identityKeys struct {
	credentials.STSWebIdentity
	tokenFile string
	last      credentials.Value
	next      time.Time // no exchange before this
}

// identityError reports why there are no keys for a token.
type identityError struct {
	reason  Reason
	message string
}

func (e *identityError) Error() string { return e.message }

// stsUnavailable is an answer that asks to try again later.
type stsUnavailable struct{ status string }

func (e *stsUnavailable) Error() string { return e.status }

// webIdentity returns the provider for the identity token in a file.
func (o S3Options) webIdentity() (*credentials.Credentials, error) {
	endpoint, err := o.stsEndpoint()
	if err != nil {
		return nil, err
	}
	transport, err := o.transport(strings.HasPrefix(endpoint, "https:"))
	if err != nil {
		return nil, err
	}
	keys := &identityKeys{tokenFile: o.WebIdentity.TokenFile}
	keys.Client = &http.Client{Transport: stsTransport{transport}}
	keys.STSEndpoint = endpoint
	keys.RoleARN = o.WebIdentity.RoleARN
	keys.GetWebIDTokenExpiry = func() (*credentials.WebIdentityToken, error) {
		token, err := readToken(keys.tokenFile)
		return &credentials.WebIdentityToken{Token: token}, err
	}
	return credentials.New(keys), nil
}

// stsEndpoint returns the address of the STS.
func (o S3Options) stsEndpoint() (string, error) {
	if sts := o.WebIdentity.STSEndpoint; sts != "" {
		if _, err := parseEndpoint(sts); err != nil {
			return "", fmt.Errorf("the STS endpoint %w", err)
		}
		return sts, nil
	}
	host, _, err := o.endpoint()
	switch {
	case err != nil:
		return "", err
	case !isAWS(host):
		return o.Endpoint, nil
	case o.Region == "":
		return "https://sts.amazonaws.com", nil
	case strings.HasPrefix(o.Region, "cn-"):
		return "https://sts." + o.Region + ".amazonaws.com.cn", nil
	}
	return "https://sts." + o.Region + ".amazonaws.com", nil
}

// IsExpired reports whether an exchange is due.
func (k *identityKeys) IsExpired() bool {
	return k.STSWebIdentity.IsExpired() && !time.Now().Before(k.next)
}

// Retrieve implements credentials.Provider.
func (k *identityKeys) Retrieve() (credentials.Value, error) {
	return k.RetrieveWithCredContext(nil)
}

// RetrieveWithCredContext implements credentials.Provider.
func (k *identityKeys) RetrieveWithCredContext(*credentials.CredContext) (credentials.Value, error) {
	ctx, cancel := context.WithTimeout(context.Background(), exchangeTimeout)
	defer cancel()
	value, err := k.STSWebIdentity.RetrieveWithCredContext(&credentials.CredContext{Context: ctx})
	if err == nil {
		k.last = value
		return value, nil
	}
	if time.Until(k.last.Expiration) > exchangeAgain {
		k.next = time.Now().Add(exchangeAgain)
		return k.last, nil
	}
	return credentials.Value{}, k.explain(err)
}

// explain reports why there are no keys. It omits the client's own error, since an STS may answer
// anything.
func (k *identityKeys) explain(err error) error {
	var known *identityError
	var unavailable *stsUnavailable
	var answer credentials.ErrorResponse
	switch {
	case errors.As(err, &known):
		return known
	case errors.As(err, &unavailable):
		return &identityError{Unreachable, fmt.Sprintf("the STS at %s cannot serve requests now (%s); try again later", k.STSEndpoint, unavailable.status)}
	case errors.As(err, &answer):
		return k.refused(answer.STSError.Code)
	}
	if reason, message, ok := explainConnection(k.STSEndpoint, err); ok {
		return &identityError{reason, "the STS: " + message}
	}
	return &identityError{Other, fmt.Sprintf("%s does not answer as an STS does; correct its address", k.STSEndpoint)}
}

// refused reports for which identity the STS refuses keys.
func (k *identityKeys) refused(code string) error {
	token, err := readToken(k.tokenFile)
	if err != nil {
		return err
	}
	claims := claimsOf(token)
	// MinIO has no code for it
	if strings.HasPrefix(code, "ExpiredToken") || claims.expired(time.Now()) {
		return &identityError{AccessDenied, fmt.Sprintf("the STS at %s refuses the identity token in %s: it has expired; "+
			"put a new one there (in a pod the kubelet does: compare the clocks of node and STS)", k.STSEndpoint, k.tokenFile)}
	}
	role := ""
	if k.RoleARN != "" {
		role = " the role " + k.RoleARN
	}
	return &identityError{AccessDenied, fmt.Sprintf("the STS at %s gives no keys for%s the identity token in %s%s: %s; "+
		"allow its issuer, audience and subject there", k.STSEndpoint, role, k.tokenFile, claims, code)}
}

// readToken reads the identity token of a file.
func readToken(file string) (string, error) {
	content, err := os.ReadFile(file)
	token := string(bytes.TrimSpace(content))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", &identityError{CredentialsMissing, fmt.Sprintf("no credentials: there is no identity token in %s", file)}
	case err != nil:
		return "", &identityError{CredentialsMissing, fmt.Sprintf("no credentials: the identity token %s cannot be read: %v", file, errors.Unwrap(err))}
	case token == "":
		return "", &identityError{CredentialsMissing, fmt.Sprintf("no credentials: the file %s has no identity token in it", file)}
	}
	return token, nil
}

// identityClaims identify the token's owner. They are not secret.
type identityClaims struct {
	Issuer   string `json:"iss"`
	Subject  string `json:"sub"`
	Audience any    `json:"aud"` // one or several
	Expires  int64  `json:"exp"`
}

// claimsOf reads the claims of a token; a token that is not a JWT has none.
func claimsOf(token string) identityClaims {
	var claims identityClaims
	if parts := strings.Split(token, "."); len(parts) == 3 {
		if raw, err := base64.RawURLEncoding.DecodeString(parts[1]); err == nil {
			_ = json.Unmarshal(raw, &claims)
		}
	}
	return claims
}

func (c identityClaims) expired(now time.Time) bool {
	return c.Expires != 0 && now.After(time.Unix(c.Expires, 0))
}

func (c identityClaims) String() string {
	if c.Issuer == "" && c.Subject == "" {
		return ""
	}
	return fmt.Sprintf(" (issuer %.128q, audience %.128q, subject %.128q)", c.Issuer, fmt.Sprint(c.Audience), c.Subject)
}

// stsTransport distinguishes an STS that is unavailable from one that refuses: minio-go does not
// keep the status of an answer.
type stsTransport struct{ http.RoundTripper }

func (t stsTransport) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := t.RoundTripper.RoundTrip(request)
	if err == nil && (response.StatusCode >= 500 || response.StatusCode == http.StatusTooManyRequests) {
		response.Body.Close()
		return nil, &stsUnavailable{response.Status}
	}
	return response, err
}
