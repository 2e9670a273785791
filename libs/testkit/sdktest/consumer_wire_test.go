package sdktest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// wiretap sits between a client and a real Redis: the test sees each command and may answer
// it in the server's place, or swallow the answer.
type wiretap struct {
	seen func(command string)
	// answer returns what to answer instead of the server; "" leaves it to the server.
	answer func(command string) string
	// swallow tells whether the reply to a command that the server carries out is lost: the
	// connection stays silent from then on. cut is the same with a connection that breaks.
	swallow, cut func(command string) bool
}

// client returns a client of addr through the tap; the caller closes it.
func (w *wiretap) client(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: addr, Dialer: w.dial,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

func (w *wiretap) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &tapped{Conn: conn, tap: w}, nil
}

type tapped struct {
	net.Conn

	tap      *wiretap
	canned   bytes.Buffer
	silent   bool
	broken   bool
	deadline time.Time
}

func (c *tapped) Write(data []byte) (int, error) {
	command := words(data)
	seen, answer, swallow := c.tap.seen, c.tap.answer, c.tap.swallow
	if seen != nil {
		seen(command)
	}
	if answer != nil {
		if reply := answer(command); reply != "" {
			c.canned.WriteString(reply)
			return len(data), nil
		}
	}
	c.silent = c.silent || swallow != nil && swallow(command)
	c.broken = c.broken || c.tap.cut != nil && c.tap.cut(command)
	return c.Conn.Write(data)
}

func (c *tapped) SetReadDeadline(at time.Time) error {
	c.deadline = at
	return c.Conn.SetReadDeadline(at)
}

func (c *tapped) SetDeadline(at time.Time) error {
	c.deadline = at
	return c.Conn.SetDeadline(at)
}

func (c *tapped) Read(into []byte) (int, error) {
	if c.canned.Len() > 0 {
		return c.canned.Read(into)
	}
	if c.broken { // the server has answered, nobody hears it
		_, _ = c.Conn.Read(into)
		return 0, io.EOF
	}
	if !c.silent {
		return c.Conn.Read(into)
	}
	for { // the replies are read and lost until the deadline
		n, err := c.Conn.Read(into)
		if n == 0 && errors.Is(err, io.EOF) {
			return 0, err
		}
		if err != nil {
			return 0, os.ErrDeadlineExceeded
		}
	}
}

// words returns a command of the protocol as lower-case words.
func words(data []byte) string {
	var result []string
	for line := range strings.SplitSeq(string(data), "\r\n") {
		if line != "" && line[0] != '*' && line[0] != '$' {
			result = append(result, strings.ToLower(line))
		}
	}
	return strings.Join(result, " ")
}
