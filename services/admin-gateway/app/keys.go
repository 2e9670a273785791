package app

import (
	"crypto/rand"
	"fmt"
	"os"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
)

// secret returns the token secret. In development one that is missing is made up, and tokens
// end with the process.
func (a API) secret() string {
	if a.TokenSecret == "" {
		return rand.Text() + rand.Text()
	}
	return a.TokenSecret.Reveal()
}

// keyring returns the keys that sign and verify: the file's or the secret's, and that of the
// secret before a rotation.
func (a API) keyring(secret string) (*auth.Keyring, error) {
	current, err := a.signingKey(secret)
	if err != nil {
		return nil, err
	}
	var previous []auth.Key
	if a.PreviousTokenSecret != "" {
		key, err := auth.KeyFromSecret(a.PreviousTokenSecret.Reveal())
		if err != nil {
			return nil, fmt.Errorf("api.previous-token-secret: %w", err)
		}
		previous = append(previous, key)
	}
	return auth.NewKeyring(current, previous...)
}

func (a API) signingKey(secret string) (auth.Key, error) {
	if a.TokenKeyFile == "" {
		key, err := auth.KeyFromSecret(secret)
		if err != nil {
			return auth.Key{}, fmt.Errorf("api.token-secret: %w", err)
		}
		return key, nil
	}
	text, err := os.ReadFile(a.TokenKeyFile)
	if err != nil {
		return auth.Key{}, fmt.Errorf("api.token-key-file: %w", err)
	}
	key, err := auth.KeyFromPEM(text)
	if err != nil {
		return auth.Key{}, fmt.Errorf("api.token-key-file %s: %w", a.TokenKeyFile, err)
	}
	return key, nil
}
