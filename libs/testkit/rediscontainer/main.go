// Command rediscontainer runs a Redis in a container for package redisproc, which starts it
// where RSC_TEST_REDIS is "container". It is a program in a module of its own, so that
// nothing else is built with what talks to container engines.
//
//	rediscontainer IMAGE [ARGUMENT…]
//
// starts redis-server with the arguments, prints its address, and ends the container when its
// input ends. The engine is the one of DOCKER_HOST.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/testcontainers/testcontainers-go"
	"github.com/testcontainers/testcontainers-go/wait"
)

const (
	port = "6379/tcp"
	// startBudget bounds how long the container may take until Redis listens.
	startBudget = 2 * time.Minute
	// stopBudget bounds how long the engine may take to remove it.
	stopBudget = time.Minute
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdin, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "rediscontainer:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, in io.Reader, out io.Writer) error {
	if len(args) == 0 {
		return errors.New("no image is named; usage: rediscontainer IMAGE [ARGUMENT…]")
	}
	starting, cancel := context.WithTimeout(ctx, startBudget)
	defer cancel()
	container, err := testcontainers.Run(starting, args[0],
		testcontainers.WithCmd(append([]string{"redis-server", "--protected-mode", "no"}, args[1:]...)...),
		testcontainers.WithExposedPorts(port),
		testcontainers.WithWaitStrategyAndDeadline(startBudget, wait.ForLog("Ready to accept connections"), wait.ForListeningPort(port).SkipInternalCheck()),
	)
	defer func() { remove(ctx, container) }()
	if err != nil {
		return fmt.Errorf("run a container of %s; is there an engine, and does it have the image: %w", args[0], err)
	}
	address, err := container.PortEndpoint(ctx, port, "")
	if err != nil {
		return fmt.Errorf("ask for the address of the container: %w", err)
	}
	if _, err := fmt.Fprintln(out, address); err != nil {
		return fmt.Errorf("print the address: %w", err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, in)
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	return nil
}

// remove ends the container at once, with its volumes, also when ctx has ended.
func remove(ctx context.Context, container *testcontainers.DockerContainer) {
	if container == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopBudget)
	defer cancel()
	if err := container.Terminate(ctx, testcontainers.StopTimeout(0)); err != nil {
		fmt.Fprintln(os.Stderr, "rediscontainer: remove the container:", err)
	}
}
