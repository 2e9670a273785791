package browser_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// evil does something wherever it is taken for a part of a page.
const evil = `"'></textarea></script><img src=x onerror=alert(1)><script>alert(2)</script><svg onload=confirm(3)>`

// Reliability, Console, XSS; F38: what strangers name is text, when a page is loaded and when a
// piece of it is replaced.
func TestFieldF38WhatStrangersNameDoesNothing(t *testing.T) {
	t.Parallel()
	s := startSuite(t, "--demo=false")
	s.create(t)
	const room = "/streams/payments/groups/booking"
	rdb := s.redis.Client(t)
	for _, value := range []string{evil, `{"a": "` + `<img src=x onerror=alert(4)>` + `", "<svg onload=alert(5)>": [1]}`} {
		require.NoError(t, rdb.XAdd(t.Context(), &redis.XAddArgs{Stream: "payments:0", Values: []any{"_key", evil, evil, value}}).Err())
	}
	s.asks(t, room+"/members/m1/heartbeat", joining("m1"))
	s.asks(t, "/streams/payments/scale", protocol.ScaleRequest{TargetShardCount: new(6), RequestedBy: evil, Reason: evil})
	moves, err := s.admin.Migrations(t.Context(), "payments", "booking")
	require.NoError(t, err)
	require.Len(t, moves.Migrations, 1)

	w := s.signedIn(t, userOps)
	w.visit(room)
	w.until(`document.querySelector("#live").textContent === "live"`)
	s.asks(t, room+"/members/m2/heartbeat", joining("m2"))
	w.until(`document.querySelector("main").textContent.includes("m2")`)
	w.inert("onerror=alert(1)")
	for path, shown := range map[string]string{
		room: "onerror=alert(1)", room + "/messages": "onerror=alert(4)", room + "/messages?shard=0": "onload=alert(5)",
		room + "/migrations/" + moves.Migrations[0].ReshardingID: "onerror=alert(1)", "/audit": "onerror=alert(1)",
		room + "/migrations": "", room + "/scale?to=8&reason=" + url.QueryEscape(evil): "",
		"?q=" + url.QueryEscape(evil) + "&state=" + url.QueryEscape(evil) + "&sort=" + url.QueryEscape(evil): "",
		room + "/messages?shard=" + url.QueryEscape(evil) + "&id=" + url.QueryEscape(evil):                   "",
		"/audit?stream=" + url.QueryEscape(evil) + "&operation=" + url.QueryEscape(evil):                     "",
		"/streams/" + url.PathEscape(evil) + "/groups/" + url.PathEscape(evil):                               "",
	} {
		w.visit(path)
		w.inert(shown)
	}
	w.forgive(func(said string) bool { return refused(said) || strings.Contains(said, "The specified value") })
	w.blameless()
}

// inert fails the test when something on the page came from a stranger, or does not show.
func (w *window) inert(shown string) {
	w.t.Helper()
	require.Equal(w.t, "0", w.text(`document.querySelectorAll("body img, body script, svg[onload], [onerror], a[href^='javascript:' i]").length`), w.text("location.href"))
	if shown != "" {
		require.Contains(w.t, w.text(`document.querySelector("main").textContent`), shown, w.text("location.href"))
	}
}

func joining(member string) protocol.HeartbeatRequest {
	return protocol.HeartbeatRequest{
		ProtocolVersion: 1, RequestID: "r-1", MemberID: member, MemberName: new(evil), MemberEpoch: protocol.EpochJoin,
		RuntimeConsumerCapacity: protocol.Capacity{RuntimeMaxConcurrency: 1, AvailableConcurrency: 1},
		OwnedShards:             []protocol.ShardID{}, RevokingShards: []protocol.RevokingShard{}, ShardProgress: []protocol.ShardProgress{},
	}
}

// asks posts to the API what the client's own types would not, in a program's name of its own.
func (s *suite) asks(t *testing.T, path string, body any) {
	t.Helper()
	require.NoError(t, s.ask(t, path, body))
}

// ask does the same and returns what the API refused.
func (s *suite) ask(t *testing.T, path string, body any) error {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.gateway+protocol.BasePath+path, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.SetBasicAuth(userOps, passwordOf(userOps))
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", evil)
	transport := &http.Transport{DisableKeepAlives: true}
	answer, err := (&http.Client{Transport: transport, Timeout: patience}).Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	said, err := io.ReadAll(answer.Body)
	if answer.StatusCode >= http.StatusBadRequest {
		err = errors.Join(err, fmt.Errorf("status %d: %s", answer.StatusCode, said))
	}
	return err
}
