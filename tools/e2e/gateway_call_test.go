package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// guardedCall is a request to a guarded suite.
type guardedCall struct {
	method, path string // no method is GET
	token, body  string
	header       map[string]string
}

// guardedReply is what came back.
type guardedReply struct {
	status int
	header http.Header
	body   []byte
}

func (r guardedReply) decode(t *testing.T, into any) {
	t.Helper()
	require.NoError(t, json.Unmarshal(r.body, into), "%s", r.body)
}

// code is the error code of a refusal, "" of anything else.
func (r guardedReply) code() protocol.Code {
	var said struct {
		ErrorCode protocol.Code `json:"errorCode"`
	}
	_ = json.Unmarshal(r.body, &said)
	return said.ErrorCode
}

// send sends a request to one service. An error means that no answer came.
func (g *guarded) send(to *guardedService, c guardedCall) (guardedReply, error) {
	return sendWith(g.http, to.url(), c)
}

func sendWith(through *http.Client, base string, c guardedCall) (guardedReply, error) {
	request, err := http.NewRequestWithContext(context.Background(), c.method, base+c.path, strings.NewReader(c.body))
	if err != nil {
		return guardedReply{}, err
	}
	if c.body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	for name, value := range c.header {
		request.Header.Set(name, value)
	}
	answer, err := through.Do(request)
	if err != nil {
		return guardedReply{}, err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return guardedReply{status: answer.StatusCode, header: answer.Header, body: body}, err
}

// ask sends a request to the first gateway, which has to answer.
func (g *guarded) ask(c guardedCall) guardedReply {
	g.t.Helper()
	return g.askAt(g.gateways[0], c)
}

func (g *guarded) askAt(to *guardedService, c guardedCall) guardedReply {
	g.t.Helper()
	got, err := g.send(to, c)
	require.NoError(g.t, err, "%s %s at %s", c.method, c.path, to.name)
	return got
}

// refused asks the first gateway and requires a refusal.
func (g *guarded) refused(c guardedCall, status int, code protocol.Code) guardedReply {
	g.t.Helper()
	return g.refusedAt(g.gateways[0], c, status, code)
}

func (g *guarded) refusedAt(to *guardedService, c guardedCall, status int, code protocol.Code) guardedReply {
	g.t.Helper()
	got := g.askAt(to, c)
	require.Equal(g.t, status, got.status, "%s %s at %s: %s", c.method, c.path, to.name, got.body)
	require.Equal(g.t, code, got.code(), "%s", got.body)
	return got
}

// passes asks the first gateway and requires an answer with that status.
func (g *guarded) passes(c guardedCall, status int) guardedReply {
	g.t.Helper()
	got := g.ask(c)
	require.Equal(g.t, status, got.status, "%s %s: %s", c.method, c.path, got.body)
	return got
}

// createStream returns the call that creates a stream with one group.
func createStream(token, name string) guardedCall {
	return guardedCall{
		method: http.MethodPost, path: api("/streams/" + name), token: token,
		body: fmt.Sprintf(`{"initialShardCount": 2, "consumerGroups": [%q], "requestedBy": "e2e"}`, group),
	}
}

// planScale returns the call that asks for a plan only.
func planScale(token, name string) guardedCall {
	return guardedCall{
		method: http.MethodPost, path: api("/streams/" + name + "/scale?dryRun=true"), token: token,
		body: `{"targetShardCount": 4, "requestedBy": "e2e", "reason": "more load"}`,
	}
}

// audit returns all records that a user may see, oldest first.
func (g *guarded) audit(token string) []protocol.AuditRecord {
	g.t.Helper()
	var records []protocol.AuditRecord
	for cursor := ""; ; {
		query := url.Values{"limit": {"1000"}}
		if cursor != "" {
			query.Set("cursor", cursor)
		}
		var page protocol.AuditResponse
		g.passes(guardedCall{path: api("/audit?" + query.Encode()), token: token}, http.StatusOK).decode(g.t, &page)
		records = append(records, page.Records...)
		if page.Next == nil {
			slices.Reverse(records)
			return records
		}
		cursor = *page.Next
	}
}

// byRequest sorts records by the request that they are about.
func byRequest(records []protocol.AuditRecord) map[string][]protocol.AuditRecord {
	sorted := map[string][]protocol.AuditRecord{}
	for _, one := range records {
		sorted[one.RequestID] = append(sorted[one.RequestID], one)
	}
	return sorted
}

// requireTrail requires that the records of one request, in their order, tell of one
// outcome, behind an intent if it was sent, and of nothing else (C8). It returns the outcome.
func requireTrail(t *testing.T, records []protocol.AuditRecord) protocol.AuditRecord {
	t.Helper()
	require.NotEmpty(t, records, "a mutation that was answered is in the audit")
	last := records[len(records)-1]
	require.NotEqual(t, protocol.AuditIntent, last.Kind, "there is an outcome")
	if !last.Intended {
		require.Len(t, records, 1, "what was not sent has an outcome only")
		return last
	}
	require.Len(t, records, 2, "what was sent has an intent and an outcome")
	require.Equal(t, protocol.AuditIntent, records[0].Kind)
	require.Less(t, records[0].Sequence, last.Sequence)
	return last
}

// step is a part of a test that goes on from what the ones before have left.
func step(t *testing.T, claim string, check func()) {
	t.Helper()
	t.Log(claim)
	check()
}

// told is how a run of rscctl ended.
type told struct {
	code int
	text string // all that it wrote
}

// rscctl runs the command line against the first gateway.
func (g *guarded) rscctl(token string, args ...string) told {
	g.t.Helper()
	var text bytes.Buffer
	run := exec.CommandContext(g.t.Context(), filepath.Join(binaries, "rscctl"), append(args, "--coordinator", g.gateways[0].url())...)
	run.Env = append(os.Environ(), "RSC_TOKEN="+token, "XDG_CONFIG_HOME="+g.t.TempDir())
	run.Stdout, run.Stderr = &text, &text
	err := run.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return told{exit.ExitCode(), text.String()}
	}
	require.NoError(g.t, err)
	return told{0, text.String()}
}
