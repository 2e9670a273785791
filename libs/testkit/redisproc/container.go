package redisproc

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
)

// ImageVariable is the environment variable that names the image of ModeContainer.
const ImageVariable = "RSC_TEST_REDIS_IMAGE"

// defaultImage is the image where ImageVariable is empty.
const defaultImage = "redis:7"

// program is what runs the container. It is a module of the same workspace, so that
// nothing but this mode builds what talks to container engines.
const program = "github.com/redis-stream-coordinator/rsc/libs/testkit/rediscontainer"

// container is a running Redis in a container, which ends with the input of its keeper.
type container struct {
	input io.Closer
	done  chan struct{}
}

// startContainer runs the keeper and takes the address that it prints.
func (s *Server) startContainer() {
	s.t.Helper()
	image := os.Getenv(ImageVariable)
	if image == "" {
		image = defaultImage
	}
	args := append([]string{"run", program, image}, s.settings.inside()...)
	keeper := exec.CommandContext(context.WithoutCancel(s.t.Context()), "go", args...)
	keeper.Env = append(os.Environ(), "TESTCONTAINERS_RYUK_DISABLED=true")
	if os.Getenv("TESTCONTAINERS_HOST_OVERRIDE") == "" {
		keeper.Env = append(keeper.Env, "TESTCONTAINERS_HOST_OVERRIDE=127.0.0.1")
	}
	var said bytes.Buffer
	keeper.Stderr = &said
	kept, address, err := keep(keeper)
	if err != nil {
		s.t.Fatalf("run Redis in a container of %s: %v\n%s", image, err, said.String())
	}
	s.container = kept
	s.t.Cleanup(s.Kill)
	if _, s.port, err = net.SplitHostPort(address); err != nil {
		s.t.Fatalf("address of Redis in a container: %v", err)
	}
}

// keep starts the keeper and returns when it has printed the address.
func keep(keeper *exec.Cmd) (*container, string, error) {
	input, err := keeper.StdinPipe()
	if err != nil {
		return nil, "", err
	}
	output, err := keeper.StdoutPipe()
	if err != nil {
		return nil, "", err
	}
	if err := keeper.Start(); err != nil {
		return nil, "", err
	}
	printed := bufio.NewReader(output)
	address, err := printed.ReadString('\n')
	if err != nil {
		_ = input.Close()
		return nil, "", errors.Join(errEnded, keeper.Wait())
	}
	c := &container{input: input, done: make(chan struct{})}
	go func() {
		defer close(c.done)
		_, _ = io.Copy(io.Discard, printed)
		_ = keeper.Wait()
	}()
	return c, strings.TrimSpace(address), nil
}

// end removes the container and returns when it is gone. A second call does nothing.
func (c *container) end() {
	_ = c.input.Close()
	<-c.done
}

// inside returns the arguments of redis-server in a container, which has its own directory
// and port.
func (s settings) inside() []string {
	line := []string{"--save", ""}
	if s.aof != "" {
		line = append(line, "--appendonly", "yes", "--appendfsync", s.aof)
	}
	return append(line, s.args...)
}
