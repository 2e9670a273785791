package e2e_test

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// proxy stands between processes and their Redis. It can lose answers, and turn to another
// Redis.
type proxy struct {
	listener net.Listener
	running  sync.WaitGroup

	deaf atomic.Bool  // answers are thrown away
	lost atomic.Int64 // bytes of answers since deafen

	mu     sync.Mutex
	target string
	conns  map[net.Conn]struct{}
}

// startProxy returns a proxy of the server at target that ends with the test.
func startProxy(t *testing.T, target string) *proxy {
	t.Helper()
	var listen net.ListenConfig
	listener, err := listen.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{listener: listener, target: target, conns: map[net.Conn]struct{}{}}
	p.running.Go(p.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		p.cut()
		p.running.Wait()
	})
	return p
}

func (p *proxy) address() string { return p.listener.Addr().String() }

// deafen has the answers of the server thrown away from now on.
func (p *proxy) deafen() {
	p.lost.Store(0)
	p.deaf.Store(true)
}

// cut closes all connections; new ones get answers again.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cutLocked()
}

// turn closes all connections; new ones go to another target.
func (p *proxy) turn(target string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.target = target
	p.cutLocked()
}

func (p *proxy) cutLocked() {
	for conn := range p.conns {
		_ = conn.Close()
	}
	clear(p.conns)
	p.deaf.Store(false)
}

func (p *proxy) accept() {
	for {
		near, err := p.listener.Accept()
		if err != nil {
			return
		}
		far, err := p.connect(near)
		if err != nil {
			_ = near.Close()
			continue
		}
		p.running.Go(func() { p.copy(far, near) })
		p.running.Go(func() { p.copy(answers{near, p}, far) })
	}
}

// connect returns a connection to the target and takes note of both.
func (p *proxy) connect(near net.Conn) (net.Conn, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	far, err := net.Dial("tcp", p.target)
	if err != nil {
		return nil, err
	}
	p.conns[near], p.conns[far] = struct{}{}, struct{}{}
	return far, nil
}

// copy copies until one side is closed, and then closes the other.
func (p *proxy) copy(to io.WriteCloser, from net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.Close()
	_ = from.Close()
}

// answers is the way back.
type answers struct {
	net.Conn
	proxy *proxy
}

// Write implements io.Writer.
func (a answers) Write(b []byte) (int, error) {
	if a.proxy.deaf.Load() {
		a.proxy.lost.Add(int64(len(b)))
		return len(b), nil
	}
	return a.Conn.Write(b)
}
