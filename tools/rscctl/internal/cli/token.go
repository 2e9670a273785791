package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/wallet"
)

// maxSecret bounds what is read as a token or password, in bytes.
const maxSecret = 16 << 10

// credential is the token that requests carry, and where it is from.
type credential struct {
	token string
	// from says it for people, as in "the token in $RSC_TOKEN"; empty when there is none.
	from string
	// login is the user who is logged in, and ended tells that this login is over.
	login string
	ended bool
}

// findToken sets the token of this run: --token-file, else $RSC_TOKEN, else the login that
// is kept for the server.
func (s *session) findToken() error {
	switch {
	case s.tokenFile != "":
		token, err := secretFile(s.tokenFile)
		if err != nil {
			return usage("--token-file: %v", err)
		}
		s.credential = credential{token: token, from: "the token in " + s.tokenFile}
		return nil
	case s.Env("RSC_TOKEN") != "":
		s.credential = credential{token: strings.TrimSpace(s.Env("RSC_TOKEN")), from: "the token in $RSC_TOKEN"}
		return nil
	}
	return s.findLogin()
}

// findLogin sets the token of the login that is kept for the server, where there is one.
func (s *session) findLogin() error {
	login, err := wallet.Open(s.Env).Load(s.coordinator)
	switch {
	case errors.Is(err, wallet.ErrNone):
		return nil
	case err != nil:
		return ended(exitFailed, "%v; repair it, or log in anew after: rscctl logout", err)
	}
	s.credential = credential{token: login.Token, from: "the login of " + login.Username, login: login.Username}
	if !clock.Now().Before(login.ExpiresAt) {
		s.credential.token, s.credential.ended = "", true
	}
	return nil
}

// bearer is the client's source of tokens.
func (s *session) bearer(context.Context) (string, error) { return s.credential.token, nil }

// secretFile returns what a file holds, without the line's end.
func secretFile(path string) (string, error) {
	file, err := os.Open(filepath.Clean(path))
	if err != nil {
		return "", err
	}
	defer func() { _ = file.Close() }()
	return secretFrom(file)
}

// secretFrom reads a secret to the end, without the end of its line.
func secretFrom(reader io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(reader, maxSecret+1))
	secret := strings.TrimSuffix(strings.TrimSuffix(string(text), "\n"), "\r")
	switch {
	case err != nil:
		return "", fmt.Errorf("read secret: %w", err)
	case len(text) > maxSecret:
		return "", fmt.Errorf("it has more than %d bytes", maxSecret)
	case secret == "":
		return "", errors.New("it is empty")
	case strings.ContainsAny(secret, "\r\n"):
		return "", errors.New("it has more than one line")
	}
	return secret, nil
}
