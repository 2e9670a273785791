package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/wallet"
)

const loginHelp = `Logs in at the gateway and keeps the token, which all commands use with that gateway until
it ends or rscctl logout. It is kept in a file that only you may read, one for each
gateway: below $XDG_CONFIG_HOME/rsc, else $HOME/.config/rsc. The password is not kept.

The password is asked for at the terminal; --password-stdin reads it from the input. In
scripts $RSC_TOKEN or --token-file may bring a token along instead: they come before a login.

What a user may do is up to the roles that the gateway's settings give: READ sees
everything, WRITE changes streams, groups and members, MEMBER is for consumers.`

func (s *session) login() *cobra.Command {
	var user string
	var stdin bool
	cmd := &cobra.Command{
		Use: "login", Short: "Log in at the gateway, for all later commands", Args: cobra.NoArgs,
		Long: loginHelp,
		Example: `  rscctl login --user ops
  rscctl login --user ops --coordinator https://gateway.example.com
  rscctl login --user ops --password-stdin < password.txt`,
		Annotations: map[string]string{offline: "true"},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if user == "" {
				return usage("--user NAME says who logs in")
			}
			password, err := s.password(cmd.Context(), stdin, "Password of "+show.Text(user)+" at "+s.coordinator+": ")
			if err != nil {
				return err
			}
			return s.logIn(cmd.Context(), user, password)
		},
	}
	cmd.Flags().StringVar(&user, "user", "", "`name` of the user")
	cmd.Flags().BoolVar(&stdin, "password-stdin", false, "read the password from the input")
	return cmd
}

// loggedIn is what rscctl login answers; it never holds the token.
type loggedIn struct {
	Server    string             `json:"server"`
	Username  string             `json:"username"`
	Roles     []string           `json:"roles"`
	ExpiresAt protocol.Timestamp `json:"expiresAt"`
	File      string             `json:"file"`
}

func (s *session) logIn(ctx context.Context, user, password string) error {
	answer, err := s.admin.Login(ctx, user, password)
	if err != nil {
		return s.cannot(err, place{login: true}, "log in as %s at %s", user, s.coordinator)
	}
	kept := wallet.Login{
		Server: s.coordinator, Username: user, Token: answer.AccessToken,
		ExpiresAt: answer.ExpiresAt.Time, Roles: answer.Roles,
	}
	file, err := wallet.Open(s.Env).Save(kept)
	if err != nil {
		return ended(exitFailed, "logged in, but the token could not be kept: %v", err)
	}
	if from := s.credential.from; from != "" && s.credential.login == "" {
		s.notes().Line("rscctl: %s comes before this login in all commands", from)
	}
	told := loggedIn{s.coordinator, user, answer.Roles, answer.ExpiresAt, file}
	return s.emit(told, func(page *show.Page) {
		page.Line("Logged in as %s at %s until %s.", user, s.coordinator, answer.ExpiresAt.Format(time.RFC3339))
		page.Fields("roles", show.Names(answer.Roles), "kept in", file)
	})
}

func (s *session) logout() *cobra.Command {
	return &cobra.Command{
		Use: "logout", Short: "End the login at the gateway", Args: cobra.NoArgs,
		Long: `Ends the token of the login at the gateway and forgets it here. When the gateway does not
answer, the token is forgotten all the same, and ends by itself at its time.`,
		Annotations: map[string]string{offline: "true"},
		RunE:        func(cmd *cobra.Command, _ []string) error { return s.logOut(cmd.Context()) },
	}
}

func (s *session) logOut(ctx context.Context) error {
	kept := wallet.Open(s.Env)
	login, err := kept.Load(s.coordinator)
	if errors.Is(err, wallet.ErrNone) {
		return ended(exitFailed, "nobody is logged in at %s", s.coordinator)
	}
	var ending error
	if err == nil {
		ending = s.endToken(ctx, login.Token)
	}
	if err := kept.Remove(s.coordinator); err != nil {
		return ended(exitFailed, "the login is still kept: %v", err)
	}
	if ending != nil {
		return ended(exitFailed, "the login at %s is forgotten here, but the gateway was not told (%s); the token ends at %s",
			s.coordinator, s.cause(ending), login.ExpiresAt.Format(time.RFC3339))
	}
	return s.emit(protocol.LogoutResponse{LoggedOut: true}, func(page *show.Page) {
		page.Line("Logged out at %s.", s.coordinator)
	})
}

// endToken ends a token at the gateway; that it is over already is as good.
func (s *session) endToken(ctx context.Context, token string) error {
	admin, err := s.connect(func(context.Context) (string, error) { return token, nil })
	if err != nil {
		return fmt.Errorf("end the token: %w", err)
	}
	if err := admin.Logout(ctx); !errors.Is(err, client.ErrUnauthorized) {
		return err
	}
	return nil
}
