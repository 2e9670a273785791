package auth

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
)

// MinSecret is the shortest secret that outside of development keys are made of, in bytes.
const MinSecret = 32

// keyPurpose keeps a key apart from what else is derived of the same secret.
const keyPurpose = "redis-stream-coordinator token signing key 1"

// Key signs tokens. Its id, the kid of its tokens, is the thumbprint of the public half
// (RFC 7638).
type Key struct {
	id string
	// private lies behind a pointer, so that no verb of fmt shows it.
	private *ed25519.PrivateKey
}

// KeyFromSecret derives a key of a secret by HKDF, so that every gateway with the secret has
// the same one. How long a secret has to be is the caller's rule (MinSecret).
func KeyFromSecret(secret string) (Key, error) {
	seed, err := Derive(secret, keyPurpose, ed25519.SeedSize)
	if err != nil {
		return Key{}, err
	}
	return newKey(ed25519.NewKeyFromSeed(seed)), nil
}

// KeyFromPEM reads an Ed25519 key in PKCS #8, as "openssl genpkey -algorithm ed25519" writes
// it.
func KeyFromPEM(text []byte) (Key, error) {
	block, rest := pem.Decode(text)
	if block == nil || block.Type != "PRIVATE KEY" || len(bytes.TrimSpace(rest)) > 0 {
		return Key{}, errors.New("file is not one PEM block PRIVATE KEY")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return Key{}, fmt.Errorf("read PKCS #8 key: %w", err)
	}
	private, ok := parsed.(ed25519.PrivateKey)
	if !ok {
		return Key{}, fmt.Errorf("key is %T, not Ed25519", parsed)
	}
	return newKey(private), nil
}

// Derive returns size bytes of HKDF-SHA256 over a secret for one purpose. Purposes keep keys
// apart: knowing one tells nothing of another.
func Derive(secret, purpose string, size int) ([]byte, error) {
	derived, err := hkdf.Key(sha256.New, []byte(secret), nil, purpose, size)
	if err != nil {
		return nil, fmt.Errorf("derive key: %w", err)
	}
	return derived, nil
}

// ID returns the kid of the key's tokens.
func (k Key) ID() string { return k.id }

// Public returns the half that verifies, nil of the zero Key.
func (k Key) Public() ed25519.PublicKey {
	if k.private == nil {
		return nil
	}
	public, _ := k.private.Public().(ed25519.PublicKey)
	return public
}

func newKey(private ed25519.PrivateKey) Key {
	k := Key{private: &private}
	k.id = thumbprint(k.Public())
	return k
}

// thumbprint returns the id of a key (RFC 7638, RFC 8037).
func thumbprint(public ed25519.PublicKey) string {
	sum := sha256.Sum256([]byte(`{"crv":"Ed25519","kty":"OKP","x":"` + encoded(public) + `"}`))
	return encoded(sum[:])
}

// isThumbprint tells whether an id may be that of a key at all.
func isThumbprint(id string) bool {
	sum, err := base64.RawURLEncoding.Strict().DecodeString(id)
	return err == nil && len(sum) == sha256.Size && encoded(sum) == id
}

func encoded(data []byte) string { return base64.RawURLEncoding.EncodeToString(data) }
