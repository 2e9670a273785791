package httpapi

import (
	"net/http"
	"net/url"

	"github.com/go-chi/chi/v5"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// parameter returns a path parameter, decoded once.
func parameter(r *http.Request, name string) (string, error) {
	value, err := url.PathUnescape(chi.URLParam(r, name))
	if err != nil {
		return "", invalid("%s is not encoded as a path asks", name)
	}
	return value, nil
}

// streamOf returns the stream that the path names, a valid prefix.
func (a *api) streamOf(r *http.Request) (string, error) {
	stream, err := parameter(r, "streamPrefix")
	if err != nil {
		return "", err
	}
	return stream, refuse(protocol.CheckStreamPrefix(stream, a.KeyPrefix))
}

// groupOf returns the stream and the group that the path names, valid names.
func (a *api) groupOf(r *http.Request) (stream, group string, err error) {
	if stream, err = a.streamOf(r); err != nil {
		return "", "", err
	}
	if group, err = parameter(r, "consumerGroup"); err != nil {
		return "", "", err
	}
	return stream, group, refuse(protocol.CheckConsumerGroup(group))
}

func memberOf(r *http.Request) (string, error) {
	member, err := parameter(r, "memberId")
	if err != nil {
		return "", err
	}
	return member, refuse(protocol.CheckMemberID(member))
}

// refuse turns a failed check of a name into a refusal with its text.
func refuse(err error) error {
	if err == nil {
		return nil
	}
	return invalid("%s", err.Error())
}

func invalid(format string, args ...any) error {
	return protocol.Errorf(protocol.CodeInvalidRequest, format, args...)
}
