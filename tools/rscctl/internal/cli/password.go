package cli

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

const hashHelp = `Prints the argon2id hash of a password, for password-hash of a user in the settings of the
gateway. It asks for the password twice at a terminal, and reads one line of its input
elsewhere. The password is neither shown nor sent anywhere.`

// hashed is what rscctl hash-password answers.
type hashed struct {
	PasswordHash string `json:"passwordHash"`
}

func (s *session) hashPassword() *cobra.Command {
	return &cobra.Command{
		Use: "hash-password", Short: "Make the password hash of a gateway's user", Args: cobra.NoArgs,
		Long: hashHelp,
		Example: `  rscctl hash-password
  rscctl hash-password < password.txt`,
		Annotations: map[string]string{offline: "true"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			password, err := s.newPassword(cmd.Context())
			if err != nil {
				return err
			}
			hash, err := auth.HashPassword(password)
			if err != nil {
				return ended(exitFailed, "no hash was made: %v", err)
			}
			return s.emit(hashed{hash}, func(page *show.Page) { page.Line("%s", hash) })
		},
	}
}

// newPassword reads a password that is not in use yet, so that nobody can tell a slip.
func (s *session) newPassword(ctx context.Context) (string, error) {
	password, err := s.password(ctx, !s.InTerminal, "Password: ")
	if err != nil || !s.InTerminal {
		return password, err
	}
	again, err := s.password(ctx, false, "The same again: ")
	switch {
	case err != nil:
		return "", err
	case subtle.ConstantTimeCompare([]byte(password), []byte(again)) == 0:
		return "", ended(exitFailed, "the two are not the same; no hash was made")
	}
	return password, nil
}

// password reads a password from the input, or asks the person at the terminal for it.
func (s *session) password(ctx context.Context, fromInput bool, prompt string) (string, error) {
	if fromInput {
		password, err := secretFrom(s.In)
		if err != nil {
			return "", usage("the password on the input: %v", err)
		}
		return password, nil
	}
	if !s.InTerminal || s.Secret == nil {
		return "", usage("there is no terminal to ask at; give the password on the input with --password-stdin")
	}
	password, err := s.Secret(ctx, prompt)
	switch {
	case errors.Is(err, context.Canceled):
		return "", ended(exitFailed, "interrupted; nothing was changed")
	case err != nil:
		return "", fmt.Errorf("read password: %w", err)
	case password == "":
		return "", ended(exitFailed, "the password is empty")
	}
	return password, nil
}
