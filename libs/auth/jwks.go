package auth

import (
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
)

// maxSet is the longest JWK set that is read, in bytes.
const maxSet = 64 << 10

// jwk is a public key as RFC 8037 has it.
type jwk struct {
	Type      string `json:"kty"`
	Curve     string `json:"crv"`
	X         string `json:"x"`
	ID        string `json:"kid"`
	Use       string `json:"use"`
	Algorithm string `json:"alg"`
}

func newJWK(key Key) jwk {
	return jwk{Type: "OKP", Curve: "Ed25519", X: encoded(key.Public()), ID: key.id, Use: "sig", Algorithm: algorithm}
}

// public returns the key if it is one of ours: for signatures with EdDSA, and with its own
// thumbprint as id, so that no key can stand in for another.
func (k jwk) public() (ed25519.PublicKey, bool) {
	x, err := base64.RawURLEncoding.Strict().DecodeString(k.X)
	if err != nil || len(x) != ed25519.PublicKeySize {
		return nil, false
	}
	key := ed25519.PublicKey(x)
	return key, k.Type == "OKP" && k.Curve == "Ed25519" && k.Use == "sig" && k.Algorithm == algorithm && k.ID == thumbprint(key)
}

// readSet returns the keys of a JWK set by their ids. Keys of other kinds are left out; a
// set without any is refused, as a gateway has one at least.
func readSet(text []byte) (map[string]ed25519.PublicKey, error) {
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("read JWK set: %w", err)
	}
	keys := map[string]ed25519.PublicKey{}
	for _, one := range set.Keys {
		var k jwk
		if json.Unmarshal(one, &k) != nil {
			continue
		}
		if key, ours := k.public(); ours {
			keys[k.ID] = key
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("JWK set has no Ed25519 key")
	}
	return keys, nil
}

// endpoint is where a gateway publishes its JWK set.
type endpoint struct {
	url    *url.URL
	client *http.Client
}

func newEndpoint(text string) (endpoint, error) {
	at, err := url.Parse(text)
	if err != nil || at.Scheme != "http" && at.Scheme != "https" || at.Hostname() == "" {
		return endpoint{}, errors.New("URL of the JWK set is not http:// or https:// with a host")
	}
	return endpoint{url: at, client: &http.Client{
		// A connection for every fetch, as there are minutes between them; no proxy; nothing
		// is unpacked.
		Transport:     &http.Transport{DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: maxSet},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

func (e endpoint) fetch(ctx context.Context) (map[string]ed25519.PublicKey, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, e.url.String(), http.NoBody)
	if err != nil {
		return nil, fmt.Errorf("ask for JWK set: %w", err)
	}
	answer, err := e.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("ask for JWK set: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("ask for JWK set: status is %d", answer.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxSet+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read JWK set: %w", err)
	case len(text) > maxSet:
		return nil, fmt.Errorf("read JWK set: it has more than %d bytes", maxSet)
	}
	return readSet(text)
}
