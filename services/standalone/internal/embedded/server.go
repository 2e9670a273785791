package embedded

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/redis-stream-coordinator/rsc/libs/clock"
	"github.com/redis-stream-coordinator/rsc/libs/redisx"
)

const (
	startTries  = 5 // another process may take a free port before redis-server does
	startBudget = 10 * time.Second
	startPoll   = 10 * time.Millisecond
	logName     = "redis.log"
	logTail     = 1_000
)

var (
	errEnded    = errors.New("it ended while starting")
	errStranger = errors.New("another server answers on its port")
)

// startServer runs the redis-server at path on a free port.
func startServer(ctx context.Context, path string) (*Redis, error) {
	dir, err := os.MkdirTemp("", "rsc-redis-")
	if err != nil {
		return nil, fmt.Errorf("make a directory for redis-server: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, startBudget)
	defer cancel()
	for try := 1; ; try++ {
		started, err := tryServer(ctx, path, dir)
		if err == nil {
			return started, nil
		}
		if try == startTries || ctx.Err() != nil {
			err = fmt.Errorf("start %s: %w\n%s", path, err, tail(dir))
			return nil, errors.Join(err, os.RemoveAll(dir))
		}
	}
}

func tryServer(ctx context.Context, path, dir string) (*Redis, error) {
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	child, err := launch(ctx, path, dir, []string{
		"--port", port, "--bind", "127.0.0.1", "--dir", dir, "--daemonize", "no", "--save", "", "--appendonly", "no",
	})
	if err != nil {
		return nil, err
	}
	address := net.JoinHostPort("127.0.0.1", port)
	if err := awaitReady(ctx, child, address); err != nil {
		child.end()
		return nil, err
	}
	return &Redis{
		Address: address,
		About:   fmt.Sprintf("redis-server (pid %d) on %s, its data ends with this process", child.pid(), address),
		ended:   child.done,
		stop: func() error {
			child.end()
			return os.RemoveAll(dir)
		},
	}, nil
}

// freePort returns a loopback port that nobody listens on now.
func freePort(ctx context.Context) (string, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("find a free port: %w", err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, errors.Join(err, listener.Close())
}

// awaitReady returns when the child itself answers on the address.
func awaitReady(ctx context.Context, child *child, address string) error {
	client, err := redisx.New(redisx.Options{Addrs: []string{address}, PoolSize: 1})
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	for {
		err := answers(ctx, client, child, address)
		if err == nil || errors.Is(err, errEnded) || errors.Is(err, errStranger) {
			return err
		}
		if clock.Sleep(ctx, startPoll) != nil {
			return fmt.Errorf("it does not answer: %w", err)
		}
	}
}

func answers(ctx context.Context, client redis.UniversalClient, child *child, address string) error {
	select {
	case <-child.done:
		return errEnded
	default:
	}
	// A plain connection first, as the client would log each refusal.
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	_ = conn.Close()
	info, err := client.Info(ctx, "server").Result()
	if err != nil {
		return err
	}
	if !strings.Contains(info, "process_id:"+strconv.Itoa(child.pid())+"\r\n") {
		return errStranger
	}
	return nil
}

// tail returns the end of the server's log.
func tail(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, logName))
	if err != nil {
		return ""
	}
	return string(text[max(0, len(text)-logTail):])
}
