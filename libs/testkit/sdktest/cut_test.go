package sdktest

import (
	"bytes"
	"context"
	"io"
	"net"
	"sync/atomic"

	"github.com/redis/go-redis/v9"
)

// cutter makes connections to Redis that can break after Redis has carried out what was
// sent: the reply is read from the server and not handed on.
type cutter struct {
	// left is how many connections still break, and after how many lines of replies.
	left, lines atomic.Int64
}

func newCutter() *cutter { return &cutter{} }

// arm lets the next connections break that carry an XADD, each after so many replies to
// them were handed on.
func (c *cutter) arm(connections, replies int64) {
	c.lines.Store(2 * replies) // an id is a length and a text
	c.left.Store(connections)
}

func (c *cutter) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &cutConn{Conn: conn, cutter: c}, nil
}

// client returns a client of the server at addr through c; the caller closes it.
func (c *cutter) client(addr string) *redis.Client {
	return redis.NewClient(&redis.Options{Addr: addr, Dialer: c.dial})
}

type cutConn struct {
	net.Conn
	cutter  *cutter
	breaks  atomic.Bool
	allowed int64
	broken  bool
}

func (c *cutConn) Write(data []byte) (int, error) {
	if bytes.Contains(bytes.ToUpper(data), []byte("XADD")) && !c.breaks.Load() && c.cutter.left.Add(-1) >= 0 {
		c.allowed = c.cutter.lines.Load()
		c.breaks.Store(true)
	}
	return c.Conn.Write(data)
}

func (c *cutConn) Read(into []byte) (int, error) {
	if c.broken {
		return 0, io.EOF
	}
	n, err := c.Conn.Read(into)
	if !c.breaks.Load() || err != nil {
		return n, err
	}
	for at := range n {
		if into[at] != '\n' {
			continue
		}
		if c.allowed--; c.allowed == 0 {
			c.broken = true
			return at + 1, nil
		}
	}
	if c.allowed > 0 {
		return n, nil
	}
	c.broken = true
	return 0, io.EOF
}
