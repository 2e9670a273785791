package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answers are what a fake coordinator says to "METHOD path", below the base path, one
// after the other; the last one stays: a body, refused or cutOff.
type answers map[string][]any

// cutOff is no answer: the connection breaks after the request.
type cutOff struct{}

// rounds are server-sent events of the monitor, one round each; the stream ends behind them.
type rounds []protocol.GroupsEvent

// refused is an answer with an error status.
type refused struct {
	code    protocol.Code
	message string
}

// fake is a coordinator that says what it is told to, and remembers what it was asked.
type fake struct {
	answers answers

	mu    sync.Mutex
	asked []string // METHOD path
	sent  []string // bodies, in the same order
	auths []string // Authorization headers, in the same order
	keys  []string // Idempotency-Key headers, in the same order
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	call := r.Method + " " + strings.TrimPrefix(r.RequestURI, protocol.BasePath)
	body, _ := io.ReadAll(r.Body)
	f.asked, f.sent = append(f.asked, call), append(f.sent, string(body))
	f.auths = append(f.auths, r.Header.Get("Authorization"))
	f.keys = append(f.keys, r.Header.Get("Idempotency-Key"))
	if len(f.answers[call]) == 0 {
		refuse(w, refused{protocol.CodeNotFound, "the test answers no " + call})
		return
	}
	answer := f.answers[call][0]
	if len(f.answers[call]) > 1 {
		f.answers[call] = f.answers[call][1:]
	}
	switch answer := answer.(type) {
	case cutOff:
		panic(http.ErrAbortHandler)
	case refused:
		refuse(w, answer)
	case rounds:
		for _, event := range answer {
			data, _ := json.Marshal(event)
			_, _ = fmt.Fprintf(w, "event: %s\ndata: %s\n\n", protocol.FollowGroups, data)
		}
	default:
		_ = json.NewEncoder(w).Encode(answer)
	}
}

func refuse(w http.ResponseWriter, no refused) {
	w.WriteHeader(protocol.FaultOf(no.code).Status)
	_ = json.NewEncoder(w).Encode(protocol.ErrorResponse{ErrorCode: no.code, Message: no.message, RequestID: "REQ-1"})
}

// RoundTrip answers without a connection, for tests in the bubble of a clock.
func (f *fake) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	r.RequestURI = r.URL.RequestURI()
	if r.Body == nil {
		r.Body = http.NoBody
	}
	recorder := httptest.NewRecorder()
	f.ServeHTTP(recorder, r)
	return recorder.Result(), nil
}

// changes returns what was asked for that is no read, with the bodies.
func (f *fake) changes() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var found []string
	for i, call := range f.asked {
		if !strings.HasPrefix(call, http.MethodGet) {
			found = append(found, call+" "+f.sent[i])
		}
	}
	return found
}

// outcome is what a command line led to.
type outcome struct {
	code     int
	out, err string
}

// scene is what a command line runs in.
type scene struct {
	in         string
	person     bool // at both ends
	env        map[string]string
	onlyOutput bool     // a person sees the output, and cannot be asked
	secrets    []string // what the person types when asked for secrets
	columns    int      // of the terminal, and its lines
	lines      int
}

func (s scene) terminal(out, err io.Writer) Terminal {
	return Terminal{
		Secret: func(_ context.Context, prompt string) (string, error) {
			if len(s.secrets) == 0 {
				return "", context.Canceled // the person has had enough
			}
			typed := s.secrets[0]
			s.secrets = s.secrets[1:]
			_, failed := io.WriteString(err, prompt)
			return typed, failed
		},
		In: strings.NewReader(s.in), Out: out, Err: err,
		Size:       func() (int, int) { return s.columns, s.lines },
		InTerminal: s.person, OutTerminal: s.person || s.onlyOutput,
		Env: func(name string) string {
			if value, set := s.env[name]; set {
				return value
			}
			return map[string]string{"USER": "ann"}[name]
		},
	}
}

// serve starts a fake coordinator on a port of its own.
func serve(t *testing.T, says answers) (*fake, string) {
	t.Helper()
	f := &fake{answers: says}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return f, server.URL
}

// rscctl runs a command line, split at blanks outside of quotes, against a coordinator.
func rscctl(t *testing.T, s scene, url, line string) outcome {
	t.Helper()
	var out, err bytes.Buffer
	code := Run(t.Context(), append(split(line), "--coordinator", url), s.terminal(&out, &err))
	return outcome{code, out.String(), err.String()}
}

// inBubble is rscctl without a connection.
func inBubble(ctx context.Context, s scene, f *fake, line string) outcome {
	var out, err bytes.Buffer
	code := run(ctx, split(line), s.terminal(&out, &err), f)
	return outcome{code, out.String(), err.String()}
}

func split(line string) []string {
	var words []string
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			words = append(words, part)
		} else {
			words = append(words, strings.Fields(part)...)
		}
	}
	return words
}

func requireJSON[T any](t *testing.T, want T, got string) {
	t.Helper()
	var back T
	require.NoError(t, json.Unmarshal([]byte(got), &back), got)
	require.Equal(t, want, back)
}
