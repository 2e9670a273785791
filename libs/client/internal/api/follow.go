package api

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

const (
	// silence is how long nothing may come from a stream of events: the monitor says something
	// every 15 s.
	silence = time.Minute
	// maxEvent is how long one event may be.
	maxEvent = 32 << 20
)

// errSilent ends a stream on which nothing comes any more.
var errSilent = errors.New("nothing came for a minute")

// Event is one server-sent event.
type Event struct {
	Kind string
	Data []byte
}

// Follow reads monitoring/stream until ctx ends, the server closes it, or take returns an
// error, which it returns. Empty names are no condition. The error wraps ErrUnavailable where
// the stream broke off, and is nil where the server ended it.
func (c *Client) Follow(ctx context.Context, stream, group string, take func(Event) error) error {
	at := c.base + monitoring + "/stream"
	query := url.Values{}
	for name, text := range map[string]string{"streamPrefix": stream, "consumerGroup": group} {
		if text != "" {
			query.Set(name, text)
		}
	}
	if len(query) > 0 {
		at += "?" + query.Encode()
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watchdog := clock.NewTimer(silence)
	defer watchdog.Stop()
	go func() {
		select {
		case <-watchdog.C:
			cancel(errSilent)
		case <-ctx.Done():
		}
	}()
	response, err := c.open(ctx, call{method: http.MethodGet, url: at})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	err = readEvents(response.Body, func() { watchdog.Reset(silence) }, take)
	if errors.Is(err, ErrUnavailable) && errors.Is(context.Cause(ctx), errSilent) {
		return fmt.Errorf("%w: %w", ErrUnavailable, errSilent)
	}
	return err
}

// open asks for an answer that has no end, with the token as do has it.
func (c *Client) open(ctx context.Context, call call) (*http.Response, error) {
	token, err := c.tokenOf(ctx, call)
	if err != nil {
		return nil, err
	}
	response, err := c.begin(ctx, call, token)
	if token == "" || !errors.Is(err, ErrUnauthorized) || !c.token.Refused(token) {
		return response, err
	}
	if token, err = c.tokenOf(ctx, call); err != nil {
		return nil, err
	}
	return c.begin(ctx, call, token)
}

func (c *Client) begin(ctx context.Context, call call, token string) (*http.Response, error) {
	request, err := newRequest(ctx, call, token)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "text/event-stream")
	lasting := *c.http
	lasting.Timeout = 0
	response, err := lasting.Do(request)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		return nil, refusal(response)
	}
	return response, nil
}

// readEvents splits a stream into its events. heard is called with every line.
func readEvents(from io.Reader, heard func(), take func(Event) error) error {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, 64<<10), maxEvent)
	var next Event
	for lines.Scan() {
		heard()
		line := lines.Bytes()
		if len(line) == 0 {
			if next.Kind != "" && next.Data != nil {
				if err := take(next); err != nil {
					return err
				}
			}
			next = Event{}
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			next.Kind = string(value)
		case "data": // one line an event
			next.Data = bytes.Clone(value)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%w: read events: %w", ErrUnavailable, err)
	}
	return nil
}
