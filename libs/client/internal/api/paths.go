package api

import (
	"net/url"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// streamPath returns base/streams/{stream}. Names are checked before they become part of
// a path, so that no name can point at another resource.
func streamPath(base, stream string) (string, error) {
	if err := protocol.CheckStreamPrefix(stream, ""); err != nil {
		return "", err
	}
	return base + "/streams/" + url.PathEscape(stream), nil
}

// groupPath returns base/streams/{stream}/groups/{group} with suffix.
func groupPath(base, stream, group, suffix string) (string, error) {
	path, err := streamPath(base, stream)
	if err != nil {
		return "", err
	}
	if err := protocol.CheckConsumerGroup(group); err != nil {
		return "", err
	}
	return path + "/groups/" + url.PathEscape(group) + suffix, nil
}
