package redisstore_test

import (
	"bufio"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// stub is a server that answers every command with one line of the protocol.
type stub struct {
	listener net.Listener
	scripts  chan struct{} // one entry for each script call received

	mu     sync.Mutex
	answer string
	conns  []net.Conn
	done   sync.WaitGroup
}

func newStub(t *testing.T, answer string) *stub {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := &stub{listener: listener, answer: answer, scripts: make(chan struct{}, 100)}
	s.done.Go(s.accept)
	t.Cleanup(func() {
		_ = listener.Close()
		s.mu.Lock()
		for _, conn := range s.conns {
			_ = conn.Close()
		}
		s.mu.Unlock()
		s.done.Wait()
	})
	return s
}

func (s *stub) addr() string { return s.listener.Addr().String() }

func (s *stub) say(answer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

func (s *stub) accept() {
	for {
		conn, err := s.listener.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		s.conns = append(s.conns, conn)
		s.mu.Unlock()
		s.done.Go(func() { s.serve(conn) })
	}
}

// serve answers scripts, and the commands of a client that connects with plain errors.
// An empty answer closes the connection.
func (s *stub) serve(conn net.Conn) {
	defer conn.Close()
	lines := bufio.NewReader(conn)
	for {
		words, err := readCommand(lines)
		if err != nil {
			return
		}
		answer := "-ERR unknown command"
		if strings.HasPrefix(strings.ToLower(words[0]), "eval") || strings.EqualFold(words[0], "SADD") {
			s.mu.Lock()
			answer = s.answer
			s.mu.Unlock()
			s.scripts <- struct{}{}
		}
		if answer == "" {
			return
		}
		if _, err := io.WriteString(conn, answer+"\r\n"); err != nil {
			return
		}
	}
}

func readCommand(lines *bufio.Reader) ([]string, error) {
	head, err := lines.ReadString('\n')
	if err != nil {
		return nil, err
	}
	count, err := strconv.Atoi(strings.TrimSpace(head[1:]))
	if err != nil {
		return nil, err
	}
	words := make([]string, count)
	for i := range words {
		size, err := lines.ReadString('\n')
		if err != nil {
			return nil, err
		}
		length, err := strconv.Atoi(strings.TrimSpace(size[1:]))
		if err != nil {
			return nil, err
		}
		word := make([]byte, length+2)
		if _, err := io.ReadFull(lines, word); err != nil {
			return nil, err
		}
		words[i] = string(word[:length])
	}
	return words, nil
}
