package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"
)

// operated is a guarded suite with a monitor, and somebody who has rscctl and nothing else.
type operated struct {
	*guarded

	redis *redis.Client
	home  string // of the operator
}

// startOperated starts it, and logs the operator in.
func startOperated(t *testing.T) *operated {
	t.Helper()
	require.NoError(t, monitorBuilt())
	address := freeAddress(t)
	o := &operated{home: t.TempDir(), guarded: startGuarded(t, guardedPlan{
		coordinators: 1, gateways: 1, logLevel: "warn", coordinatorFlags: drainTiming(),
		gatewayFlags: []string{"--gateway-monitor", "http://" + address, "--api-rate-limit-enabled=false"},
	})}
	o.redis = o.audited.Client(t)
	file := filepath.Join(t.TempDir(), "monitor.yaml")
	writeSettings(t, file, redisSettings(t, o.audited, ""))
	o.ready(o.service(address, "monitor", "monitor", []string{
		"--config", file, "--monitor-listen", address, "--monitor-metrics-listen", "",
		"--monitor-coordinator", o.coordinators[0].url(), "--observe-interval", "500ms",
		"--api-jwks-url", o.gateways[0].url() + "/.well-known/jwks.json", "--log-level", "warn",
	}))
	o.succeeds(passwordOf(userOps)+"\n", "login", "--user", userOps, "--password-stdin")
	return o
}

// operatedResult is what a command line led to.
type operatedResult struct {
	code     int
	out, err string
}

// does runs rscctl with an input.
func (o *operated) does(input string, args ...string) operatedResult {
	o.t.Helper()
	command := exec.CommandContext(o.t.Context(), filepath.Join(binaries, "rscctl"), args...)
	command.Env = []string{"RSC_COORDINATOR=" + o.gateways[0].url(), "USER=ann", "HOME=" + o.home}
	var out, problems bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = bytes.NewBufferString(input), &out, &problems
	err := command.Run()
	exit, ended := errors.AsType[*exec.ExitError](err)
	if !ended {
		require.NoError(o.t, err, "%v", args)
		return operatedResult{0, out.String(), problems.String()}
	}
	return operatedResult{exit.ExitCode(), out.String(), problems.String()}
}

// succeeds runs rscctl, which has to succeed, and returns its output.
func (o *operated) succeeds(input string, args ...string) string {
	o.t.Helper()
	got := o.does(input, args...)
	require.Zero(o.t, got.code, "%v\n%s%s", args, got.out, got.err)
	return got.out
}

// answerOf runs rscctl for a program and returns its answer.
func answerOf[T any](o *operated, args ...string) T {
	o.t.Helper()
	var answer T
	text := o.succeeds("", append(args, "--output", "json")...)
	require.NoError(o.t, json.Unmarshal([]byte(text), &answer), text)
	return answer
}
