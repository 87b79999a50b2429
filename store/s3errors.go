package store

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/minio/minio-go/v7"
)

// error converts an error of the client into a reason and a sentence.
func (b *bucket) error(op, key string, err error) error {
	if errors.Is(err, context.Canceled) {
		return err
	}
	e := &Error{Op: op, URL: b.URL(key), Err: err}
	e.Reason, e.Message = b.explain(err)
	return e
}

func (b *bucket) explain(err error) (Reason, string) {
	if b.localKeys && errors.Is(err, context.DeadlineExceeded) {
		// the deadline may have passed before the client asked for the key
		if _, missing := b.keys.GetWithContext(nil); missing != nil {
			err = missing
		}
	}
	if errors.Is(err, errNoCredentials) {
		var m *missingCredentials
		errors.As(err, &m)
		return CredentialsMissing, m.message
	}
	var identity *identityError
	if errors.As(err, &identity) {
		return identity.reason, identity.message
	}
	if reason, message, ok := explainConnection(b.endpoint, err); ok {
		return reason, message
	}
	response := minio.ToErrorResponse(err)
	switch response.Code {
	case "InvalidAccessKeyId", "ExpiredToken", "InvalidToken", "InvalidTokenId":
		// temporary keys that the server has forgotten are renewed with the next request
		b.keys.Expire()
	}
	switch response.Code {
	case minio.NoSuchBucket:
		return BucketMissing, fmt.Sprintf("there is no bucket %q at %s; create it, or correct the bucket's name", b.name, b.endpoint)
	case minio.NoSuchKey:
		return NotFound, "there is no such object"
	case "InvalidAccessKeyId":
		return AccessDenied, fmt.Sprintf("%s does not know the access key; correct the credentials (a temporary key has expired)", b.endpoint)
	case "SignatureDoesNotMatch":
		return AccessDenied, fmt.Sprintf("the secret key does not belong to the access key at %s; correct the credentials", b.endpoint)
	case "RequestTimeTooSkewed":
		return AccessDenied, fmt.Sprintf("the clocks of this machine and of %s differ too much; set them", b.endpoint)
	case "ExpiredToken", "InvalidToken", "InvalidTokenId":
		return AccessDenied, fmt.Sprintf("%s does not accept the temporary key: it has expired, or its session token is missing or another's; "+
			"renew accessKey, secretKey and sessionToken together", b.endpoint)
	case minio.AccessDenied, "AllAccessDisabled", "AccountProblem":
		return AccessDenied, fmt.Sprintf("%s refuses; allow this key to read, write, list and delete below %s", b.endpoint, b.URL(""))
	case "AuthorizationHeaderMalformed", "PermanentRedirect", "InvalidRegion":
		return Other, fmt.Sprintf("%s expects another region (%s); correct the region", b.endpoint, response.Message)
	case "XMinioStorageFull", "QuotaExceeded":
		return Other, fmt.Sprintf("no space left at %s; free some and try again", b.endpoint)
	}
	switch {
	case response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden:
		return AccessDenied, fmt.Sprintf("%s refuses (%s); allow this key to read, write, list and delete below %s", b.endpoint, response.Code, b.URL(""))
	case response.StatusCode == http.StatusNotFound:
		return NotFound, "there is no such object"
	case response.StatusCode >= 500 || response.StatusCode == http.StatusTooManyRequests:
		return Unreachable, fmt.Sprintf("%s cannot serve requests now (%d %s); try again later", b.endpoint, response.StatusCode, response.Code)
	}
	return Other, firstLine(err.Error())
}

// explainConnection explains why an endpoint gave no answer.
func explainConnection(endpoint string, err error) (Reason, string, bool) {
	var (
		unknownCA tls.RecordHeaderError
		authority x509.UnknownAuthorityError
		hostname  x509.HostnameError
		invalid   x509.CertificateInvalidError
		verify    *tls.CertificateVerificationError
		dns       *net.DNSError
		network   net.Error
	)
	switch {
	case errors.As(err, &authority):
		return Unreachable, fmt.Sprintf("the certificate of %s is signed by an unknown authority; give its CA certificate", endpoint), true
	case errors.As(err, &hostname), errors.As(err, &invalid), errors.As(err, &verify):
		return Unreachable, fmt.Sprintf("the certificate of %s is not valid for it: %s", endpoint, firstLine(err.Error())), true
	case errors.As(err, &unknownCA), strings.Contains(err.Error(), "server gave HTTP response to HTTPS client"):
		return Unreachable, fmt.Sprintf("%s does not speak TLS; use an http:// endpoint", endpoint), true
	case errors.As(err, &dns):
		return Unreachable, fmt.Sprintf("the name %s cannot be resolved; correct the endpoint or the DNS", dns.Name), true
	case errors.Is(err, context.DeadlineExceeded):
		return Unreachable, fmt.Sprintf("%s did not answer in time", endpoint), true
	case errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return Unreachable, fmt.Sprintf("%s does not answer: %s", endpoint, rootCause(err)), true
	}
	return "", "", false
}

// rootCause returns the innermost error: "connection refused" without the request.
func rootCause(err error) string {
	for {
		inner := errors.Unwrap(err)
		if inner == nil {
			return firstLine(err.Error())
		}
		err = inner
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
