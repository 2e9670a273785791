package users

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/config"
)

// MaxName is the longest name of a user, in bytes.
const MaxName = 64

// anonymous is whom services and audit know callers without a credential by.
const anonymous = "anonymous"

// maxScopes bounds the scopes of a user as JSON, in bytes: every token that the gateway signs
// for a request carries them, and has to stay within what is taken.
const maxScopes = 2 << 10

// User is one line of the configuration.
type User struct {
	// Name has 1 to MaxName bytes, all printable, and no colon, which basic authentication
	// could not carry.
	Name string
	// Hash is the argon2id hash of the password as auth.HashPassword returns it.
	Hash string
	// Password stands in place of Hash in development only. Who reads the configuration
	// refuses it elsewhere.
	Password config.Secret
	// Roles are what the user may do; none lets somebody log in and nothing more.
	Roles auth.Roles
	// Scopes bound the streams that the roles hold for, with 2 kB together; none is every
	// stream.
	Scopes []auth.Scope
}

func (u User) principal() auth.Principal {
	return auth.Principal{Name: u.Name, Roles: u.Roles, Scopes: u.Scopes}
}

// check returns all that is wrong with the user but for its hash. It never repeats a
// password or hash.
func (u User) check() error {
	problems := []error{checkName(u.Name)}
	password := u.Password.Reveal()
	switch {
	case u.Hash == "" && password == "":
		problems = append(problems, errors.New("has neither a password hash nor a password"))
	case u.Hash != "" && password != "":
		problems = append(problems, errors.New("has a password hash and a password, of which one is enough"))
	case len(password) > auth.MaxPassword:
		problems = append(problems, fmt.Errorf("has a password of more than %d bytes", auth.MaxPassword))
	}
	for _, scope := range u.Scopes {
		_, err := auth.ParseScope(string(scope))
		problems = append(problems, err)
	}
	if text, err := json.Marshal(u.Scopes); err != nil || len(text) > maxScopes {
		problems = append(problems, fmt.Errorf("has scopes of more than %d bytes together", maxScopes))
	}
	return errors.Join(problems...)
}

// hash returns what the password is compared with.
func (u User) hash() (auth.PasswordHash, error) {
	text := u.Hash
	if text == "" {
		made, err := auth.HashPassword(u.Password.Reveal())
		if err != nil {
			return auth.PasswordHash{}, fmt.Errorf("hash the password: %w", err)
		}
		text = made
	}
	return auth.ParseHash(text)
}

func checkName(name string) error {
	switch {
	case name == "":
		return errors.New("has no name")
	case name == anonymous:
		return fmt.Errorf("has the name %q, which stands for callers without a credential", anonymous)
	case len(name) > MaxName:
		return fmt.Errorf("has a name of %d bytes, at most %d are allowed", len(name), MaxName)
	case !utf8.ValidString(name):
		return errors.New("has a name that is not valid UTF-8")
	case strings.ContainsRune(name, ':'):
		return errors.New("has a name with a colon, which basic authentication cannot carry")
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return errors.New("has a name with a control or other character that is not printable")
	case strings.TrimSpace(name) != name:
		return errors.New("has a name that begins or ends with a blank")
	}
	return nil
}
