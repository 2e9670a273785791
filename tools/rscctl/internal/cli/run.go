// Package cli is the command line of rscctl: it reads arguments, asks the coordinator
// through libs/client's Admin, and prints. It reads nothing of its process but the
// Terminal that it is given.
package cli

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/client"
	"github.com/redis-stream-coordinator/rsc/tools/rscctl/internal/show"
)

// The forms of output.
const (
	outputTable = "table"
	outputJSON  = "json"
	outputYAML  = "yaml"
)

// connectTimeout bounds the making of a connection.
const connectTimeout = 5 * time.Second

// Terminal is what a run of rscctl is connected to.
type Terminal struct {
	In       io.Reader
	Out, Err io.Writer
	// InTerminal and OutTerminal tell whether a person is at the other end.
	InTerminal, OutTerminal bool
	// Size returns how many columns and lines the output's terminal shows; 0 where nobody knows.
	// It may be nil.
	Size func() (columns, lines int)
	// Env reads an environment variable, "" when it is not set.
	Env func(name string) string
	// Secret asks the person at the terminal for what is not shown while it is typed. It
	// returns ctx.Err() soon after ctx has ended. Nil where nobody can be asked.
	Secret func(ctx context.Context, prompt string) (string, error)
}

// Run carries one command line out and returns the exit code. It returns soon after ctx
// has ended.
func Run(ctx context.Context, args []string, terminal Terminal) int {
	transport := &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         (&net.Dialer{Timeout: connectTimeout}).DialContext,
		TLSHandshakeTimeout: connectTimeout,
		ForceAttemptHTTP2:   true,
	}
	defer transport.CloseIdleConnections()
	return run(ctx, args, terminal, transport)
}

func run(ctx context.Context, args []string, terminal Terminal, transport http.RoundTripper) int {
	s := &session{Terminal: terminal, transport: transport}
	root := s.root() //nolint:contextcheck // commands get ctx from ExecuteContext, not from here
	root.SetArgs(args)
	root.SetIn(terminal.In)
	root.SetOut(terminal.Out)
	root.SetErr(terminal.Err)
	return s.end(root.ExecuteContext(ctx))
}

// session is one run of the command line.
type session struct {
	Terminal

	coordinator string
	output      string
	timeout     time.Duration
	requestedBy string
	reason      string
	tokenFile   string
	key         string // of a change, as given

	credential credential
	understood bool // the command line is a command's; what fails now is not its fault
	transport  http.RoundTripper
	admin      *client.Admin
}

// offline marks commands that carry no token.
const offline = "offline"

// open checks the global flags and prepares the connection, before any command runs.
func (s *session) open(cmd *cobra.Command, _ []string) error {
	if completing(cmd) {
		return nil // the flags are not read yet
	}
	return s.prepare(cmd)
}

// prepare is open with the flags read.
func (s *session) prepare(cmd *cobra.Command) error {
	if !slices.Contains(outputs(), s.output) {
		return usage("--output is %q; it is table, json or yaml", s.output)
	}
	if s.timeout <= 0 {
		return usage("--timeout is %s; it is above 0", s.timeout)
	}
	s.coordinator = orElse(s.coordinator, orElse(s.Env("RSC_COORDINATOR"), defaultCoordinator))
	s.requestedBy = orElse(s.requestedBy, s.Env("USER"))
	var err error
	if s.admin, err = s.connect(s.bearer); err != nil {
		// The URL is not repeated: what is wrong with it may be that it holds a password.
		return usage("--coordinator or $RSC_COORDINATOR: %v; an example is %s", err, defaultCoordinator)
	}
	if err := s.checkKey(cmd); err != nil {
		return err
	}
	if cmd.Annotations[offline] == "" {
		if err := s.findToken(); err != nil {
			return err
		}
	}
	s.understood = true
	return nil
}

// connect returns the administration of the coordinator for who has the tokens of source.
func (s *session) connect(source client.TokenSource) (*client.Admin, error) {
	c, err := client.New(client.Options{
		CoordinatorURL: s.coordinator, TokenSource: source,
		HTTPClient: &http.Client{
			Transport: s.transport, Timeout: s.timeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	})
	if err != nil {
		return nil, err
	}
	return c.Admin(), nil
}

// outputs are the forms of output, that for people first.
func outputs() []string { return []string{outputTable, outputJSON, outputYAML} }

// forPrograms tells whether the output is for programs.
func (s *session) forPrograms() bool { return s.output != outputTable }

// emit prints an answer in the form asked for.
func (s *session) emit(answer any, forPeople func(*show.Page)) error {
	switch s.output {
	case outputJSON:
		return show.JSON(s.Out, answer)
	case outputYAML:
		return show.YAML(s.Out, answer)
	}
	page := s.page()
	forPeople(page)
	return page.Err()
}

// emitNext prints one of several answers for programs: a line of JSON or a document of YAML.
func (s *session) emitNext(answer any) error {
	if s.output == outputYAML {
		return show.YAMLNext(s.Out, answer)
	}
	return show.JSONLine(s.Out, answer)
}

func (s *session) page() *show.Page { return show.NewPage(s.Out, s.colours()) }

// notes is where words beside the answer go, so that output can be read by programs.
func (s *session) notes() *show.Page { return show.NewPage(s.Err, false) }

func (s *session) colours() bool {
	return s.OutTerminal && s.Env("NO_COLOR") == "" && s.Env("TERM") != "dumb"
}

// signature is who asks for a change, and why.
type signature struct{ by, reason string }

// sign returns the signature of a change, which every change needs.
func (s *session) sign() (signature, error) {
	switch {
	case s.reason == "":
		return signature{}, usage(`a change needs --reason, for example --reason "more load"; it is kept in the history`)
	case s.requestedBy == "":
		return signature{}, usage("a change needs --requested-by, as $USER is not set")
	}
	return signature{s.requestedBy, s.reason}, nil
}

// signPlan returns a signature also when none was given, as a plan changes nothing.
func (s *session) signPlan() signature {
	return signature{orElse(s.requestedBy, "rscctl"), orElse(s.reason, "plan")}
}

// signFor returns the signature of a change or of its plan.
func (s *session) signFor(plan bool) (signature, error) {
	if plan {
		return s.signPlan(), nil
	}
	return s.sign()
}

func orElse(value, otherwise string) string {
	if value == "" {
		return otherwise
	}
	return value
}

// cannot wraps what failed, with what was tried and on what.
func (s *session) cannot(err error, at place, doing string, args ...any) error {
	if err == nil {
		return nil
	}
	return &failedError{doing: fmt.Sprintf(doing, args...), at: at, err: err}
}
