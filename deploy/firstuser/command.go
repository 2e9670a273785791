// Package firstuser is the command first-user: it writes the file of users with which a gateway
// of a fresh installation starts. That is one user with all roles, whose password is in a file.
// The gateway takes hashed passwords only, and the tools that roll it out can make a password but
// not its hash. The command runs before the gateway, in a container of its own.
package firstuser

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/process"
)

const long = `Writes a file for RSC_API_USERS_FILE of the gateway: one user with the role ADMIN, whose
password is read from a file and written as its argon2id hash.

  first-user --username admin --password-file /secrets/password --out /run/rsc/users.yaml

A password of less than 12 characters is refused. The file can be read by its owner and group.
It exits with 0 when the file is there, 1 when it could not be written, 2 when the command line
or the password is wrong.`

// minPassword is the least length of the password, in bytes.
const minPassword = 12

// Command returns the command line.
func Command(process.Streams) *cobra.Command {
	var username, passwordFile, out string
	root := &cobra.Command{Use: "first-user", Short: "Write the first user of a gateway", Long: long, Args: process.NoArguments}
	root.Flags().StringVar(&username, "username", "admin", "name of the user")
	root.Flags().StringVar(&passwordFile, "password-file", "", "file with the password; an end of line is not part of it")
	root.Flags().StringVar(&out, "out", "", "file to write")
	root.RunE = func(*cobra.Command, []string) error {
		switch {
		case username == "" || strings.Contains(username, ":"):
			return process.WrongSettings(fmt.Errorf("--username is %q, it must be a name without a colon", username))
		case passwordFile == "" || out == "":
			return process.WrongSettings(fmt.Errorf("--password-file and --out are both needed"))
		}
		return write(username, passwordFile, out)
	}
	return root
}

// write makes the file. Errors do not repeat the password.
func write(username, passwordFile, out string) error {
	text, err := os.ReadFile(passwordFile)
	if err != nil {
		return process.WrongSettings(fmt.Errorf("read the password: %w", err))
	}
	password := strings.TrimRight(string(text), "\r\n")
	if len(password) < minPassword {
		return process.WrongSettings(fmt.Errorf("the password in %s has %d characters, it must have at least %d", passwordFile, len(password), minPassword))
	}
	hash, err := auth.HashPassword(password)
	if err != nil {
		return process.WrongSettings(fmt.Errorf("hash the password in %s: %w", passwordFile, err))
	}
	users, err := yaml.Marshal([]map[string]any{{"username": username, "password-hash": hash, "roles": []string{"ADMIN"}}})
	if err != nil {
		return fmt.Errorf("write the users: %w", err)
	}
	if err := os.WriteFile(out, users, 0o640); err != nil {
		return fmt.Errorf("write the users: %w", err)
	}
	return nil
}
