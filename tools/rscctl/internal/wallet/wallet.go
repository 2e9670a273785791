// Package wallet keeps login tokens in files, one for each server, that only their owner may
// read. A token is never given to another server than the one that it is from.
package wallet

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

const (
	// place is the folder of the files, below the user's folder of settings.
	place = "rsc/logins"
	// hashBytes is how much of a server's hash is in the name of its file.
	hashBytes = 8
	// maxFile is the largest file that is taken for a login, in bytes.
	maxFile = 64 << 10
)

// ErrNone comes from Load when there is no login for a server.
var ErrNone = errors.New("there is no login for this server")

// errNoFolder comes where a login cannot be kept.
var errNoFolder = errors.New("there is no folder for logins, as neither $XDG_CONFIG_HOME nor $HOME is set")

// Login is a token with what is known of it.
type Login struct {
	// Server is the URL that the token is from, in the form of Server.
	Server   string `json:"server"`
	Username string `json:"username"`
	Token    string `json:"token"`
	// ExpiresAt is when the token ends.
	ExpiresAt time.Time `json:"expiresAt"`
	Roles     []string  `json:"roles"`
}

// Wallet holds logins in a folder. The zero value has no folder: it holds none and takes none.
type Wallet struct{ dir string }

// Open returns the wallet of a user by the variables of the environment: below
// $XDG_CONFIG_HOME, else $HOME/.config, else %AppData%. It makes nothing yet. Where none of
// them is set it returns the zero value.
func Open(env func(name string) string) Wallet {
	switch {
	case filepath.IsAbs(env("XDG_CONFIG_HOME")):
		return Wallet{filepath.Join(env("XDG_CONFIG_HOME"), place)}
	case env("HOME") != "":
		return Wallet{filepath.Join(env("HOME"), ".config", place)}
	case env("AppData") != "":
		return Wallet{filepath.Join(env("AppData"), place)}
	}
	return Wallet{}
}

// Load returns the login for a server, or an error that wraps ErrNone.
func (w Wallet) Load(server string) (Login, error) {
	server, path, err := w.path(server)
	if errors.Is(err, errNoFolder) {
		return Login{}, ErrNone
	}
	if err != nil {
		return Login{}, err
	}
	text, err := read(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Login{}, ErrNone
	case err != nil:
		return Login{}, fmt.Errorf("read login: %w", err)
	}
	var login Login
	if err := json.Unmarshal(text, &login); err != nil {
		// The parser's error may repeat a part of the file, which holds a token.
		return Login{}, fmt.Errorf("read login: %s is damaged", path)
	}
	if login.Server != server {
		return Login{}, ErrNone
	}
	return login, nil
}

// Save keeps a login in place of an earlier one for the same server, and returns where.
func (w Wallet) Save(login Login) (string, error) {
	server, path, err := w.path(login.Server)
	if err != nil {
		return "", err
	}
	login.Server = server
	text, err := json.MarshalIndent(login, "", "  ")
	if err != nil {
		return "", fmt.Errorf("write login: %w", err)
	}
	if err := os.MkdirAll(w.dir, 0o700); err != nil {
		return "", fmt.Errorf("keep login: %w", err)
	}
	if err := replace(path, append(text, '\n')); err != nil {
		return "", fmt.Errorf("keep login: %w", err)
	}
	return path, nil
}

// Remove forgets the login for a server; that there is none is no error.
func (w Wallet) Remove(server string) error {
	_, path, err := w.path(server)
	if errors.Is(err, errNoFolder) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("forget login: %w", err)
	}
	return nil
}

// path returns the one form of a server's URL, and the file of its login.
func (w Wallet) path(server string) (string, string, error) {
	server, err := Server(server)
	switch {
	case err != nil:
		return "", "", err
	case w.dir == "":
		return "", "", errNoFolder
	}
	_, host, _ := strings.Cut(server, "://")
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, host)
	hash := sha256.Sum256([]byte(server))
	name = name[:min(len(name), 64)] + "-" + hex.EncodeToString(hash[:hashBytes]) + ".json"
	return server, filepath.Join(w.dir, strings.TrimLeft(name, ".")), nil
}

// Server returns the one form of the URL of a server, so that the ways to write it find the
// same login: scheme and host in lower case, without the scheme's own port and slashes at
// the end.
func Server(raw string) (string, error) {
	parsed, err := url.Parse(raw)
	if err != nil || parsed.Host == "" {
		return "", errors.New("server is not an absolute URL")
	}
	scheme, host := strings.ToLower(parsed.Scheme), strings.ToLower(parsed.Host)
	switch scheme {
	case "http":
		host = strings.TrimSuffix(host, ":80")
	case "https":
		host = strings.TrimSuffix(host, ":443")
	}
	return scheme + "://" + host + strings.TrimRight(parsed.EscapedPath(), "/"), nil
}
