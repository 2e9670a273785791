package redisproc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
)

const (
	readyBudget = time.Minute
	readyPoll   = 5 * time.Millisecond
)

var (
	errEnded    = errors.New("redis-server ended while starting")
	errStranger = errors.New("another server answers on the port")
	errState    = errors.New("cluster is not complete yet")
)

// awaitReady returns when the server's own process answers PING, which it does
// not while it loads its data, or when it ended or took longer than readyBudget.
func (s *Server) awaitReady() error {
	rdb := s.newClient()
	defer func() { _ = rdb.Close() }()
	return poll(func(ctx context.Context) error {
		if s.proc.ended() {
			return errEnded
		}
		if err := s.listens(ctx); err != nil {
			return err
		}
		info, err := rdb.Info(ctx, "server").Result()
		if err != nil {
			return err
		}
		if !strings.Contains(info, "process_id:"+strconv.Itoa(s.proc.pid())+"\r\n") {
			return errStranger
		}
		return rdb.Ping(ctx).Err()
	})
}

// listens returns nil when somebody accepts connections on the port. It keeps the
// client from logging every connection that is refused during the start.
func (s *Server) listens(ctx context.Context) error {
	var dial net.Dialer
	conn, err := dial.DialContext(ctx, "tcp", s.Addr())
	if err != nil {
		return err
	}
	return conn.Close()
}

// poll repeats check until it returns nil or errEnded, at most for readyBudget;
// then it returns the last error of check.
func poll(check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), readyBudget)
	defer cancel()
	for {
		err := check(ctx)
		if err == nil || errors.Is(err, errEnded) {
			return err
		}
		if clock.Sleep(ctx, readyPoll) != nil {
			return fmt.Errorf("not ready in %s: %w", readyBudget, err)
		}
	}
}
