package cli

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// running is a part that answers, with a setting that is secret.
func running(service, instance, version string) protocol.SystemPart {
	return protocol.SystemPart{Service: service, Address: new("http://" + service), Process: &protocol.SystemProcess{
		Service: service, Instance: instance, Version: protocol.VersionResponse{Version: version, Commit: "abc"}, StartedAt: at(0),
		Configuration: []protocol.SystemSetting{{Key: "redis.url", Value: "********", Masked: true}, {Key: "redis.username"}},
	}}
}

func whole() protocol.SystemResponse {
	gateway := running("gateway", "g-1", "v1")
	gateway.Address = nil
	return protocol.SystemResponse{Parts: []protocol.SystemPart{gateway, running("coordinator", "c-1", "v1"), running("coordinator", "c-2", "v1")}}
}

func TestTheSystemIsShownPartByPart(t *testing.T) {
	t.Parallel()
	_, url := serve(t, answers{"GET /system": {whole()}})
	require.Equal(t, outcome{out: text(`
		SERVICE       ADDRESS              STATE   VERSION   COMMIT   SINCE                  INSTANCE
		gateway       -                    UP      v1        abc      2026-01-02T03:04:05Z   g-1
		coordinator   http://coordinator   UP      v1        abc      2026-01-02T03:04:05Z   c-1
		coordinator   http://coordinator   UP      v1        abc      2026-01-02T03:04:05Z   c-2
		`)}, rscctl(t, scene{}, url, "system"))
	require.Equal(t, outcome{out: text(`
		SERVICE   ADDRESS   STATE   VERSION   COMMIT   SINCE                  INSTANCE
		gateway   -         UP      v1        abc      2026-01-02T03:04:05Z   g-1

		gateway g-1
		SETTING          VALUE
		redis.url        ********
		redis.username   -
		`)}, rscctl(t, scene{}, url, "system --service gateway --settings"))
	require.Equal(t, outcome{out: "No such parts.\n"}, rscctl(t, scene{}, url, "system --service monitor"))
}

// What is down is named with why, and the exit code says so.
func TestAPartThatDoesNotAnswerFailsTheCommand(t *testing.T) {
	t.Parallel()
	said := whole()
	said.Parts[1].Process, said.Parts[1].Problem = nil, new("cannot be reached\x1b[2J; look whether it runs")
	said.Parts[2].Process.Version.Version = "v2"
	_, url := serve(t, answers{"GET /system": {said}})
	got := rscctl(t, scene{}, url, "system")
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.out, `problem: coordinator at http://coordinator cannot be reached\x1b[2J; look whether it runs`)
	require.Contains(t, got.out, "coordinator   http://coordinator   DOWN")
	require.Contains(t, got.out, "problem: 2 different builds run")
	require.Contains(t, got.err, "1 of 3 parts do not answer")
	got = rscctl(t, scene{}, url, "system -o json")
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.out, `"process": null`)
	require.Zero(t, rscctl(t, scene{}, url, "system --service gateway").code)
}

func TestTheSystemIsAskedOfAGateway(t *testing.T) {
	t.Parallel()
	_, url := serve(t, nil)
	got := rscctl(t, scene{}, url, "system")
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "name the gateway with --coordinator")
	_, url = serve(t, answers{"GET /system": {refused{protocol.CodeForbidden, "bound to streams"}}})
	got = rscctl(t, scene{}, url, "system")
	require.Equal(t, exitFailed, got.code)
	require.Contains(t, got.err, "cannot list the parts of the system: bound to streams")
	got = rscctl(t, scene{}, url, "system --service database")
	require.Equal(t, exitUsage, got.code)
	require.Contains(t, got.err, "gateway, coordinator, monitor, console")
}
