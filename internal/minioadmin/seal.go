package minioadmin

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"errors"
)

// What MinIO's admin API calls this way of sealing, and its parameters.
const (
	pbkdf2AESGCM     = 0x02
	pbkdf2Iterations = 8192
	saltSize         = 32
	nonceSize        = 8
	// fragmentSize is how much one AEAD block of the format holds.
	fragmentSize = 1 << 14
)

// seal encrypts a request for MinIO's admin API with a key from the administrator's
// password: salt, algorithm, nonce, then one final fragment. Its nonce is continued
// by a counter, and what it authenticates is that it is the last (0x80), and the tag
// of the empty fragment 0.
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
