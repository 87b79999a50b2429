package minioadmin

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"errors"
)

// Identifiers of MinIO's admin API for this encryption, and its parameters.
const (
	pbkdf2AESGCM     = 0x02
	pbkdf2Iterations = 8192
	saltSize         = 32
	nonceSize        = 8
	// fragmentSize is the maximum size of one AEAD block of the format.
	fragmentSize = 1 << 14
)

// seal encrypts a request for MinIO's admin API with a key that is derived from the administrator's
// password. The result is salt, algorithm, nonce, then one final fragment. A counter completes the
// nonce. The associated data is the marker of the final fragment (0x80) and the tag of the empty
// fragment 0.
func seal(password string, data []byte) ([]byte, error) {
	if len(data) > fragmentSize {
		return nil, errors.New("a request to MinIO's admin API is too long")
	}
	head := make([]byte, saltSize+1+nonceSize)
	if _, err := rand.Read(head); err != nil {
		return nil, err
	}
	head[saltSize] = pbkdf2AESGCM
	salt, nonce := head[:saltSize], head[saltSize+1:]

	key, err := pbkdf2.Key(sha256.New, password, salt, pbkdf2Iterations, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	counted := func(fragment byte) []byte { return append(append([]byte{}, nonce...), fragment, 0, 0, 0) }
	authenticated := append([]byte{0x80}, aead.Seal(nil, counted(0), nil, nil)...)
	return append(head, aead.Seal(nil, counted(1), data, authenticated)...), nil
}
