package httpapi

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/go-chi/chi/v5"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// Names of the parameters of paths.
const (
	streamParameter     = "streamPrefix"
	groupParameter      = "consumerGroup"
	memberParameter     = "memberId"
	reshardingParameter = "reshardingId"
)

// maxReshardingID is how long the id of a resharding may be, in bytes.
const maxReshardingID = 64

// place is what a path names: valid names, empty where the endpoint's path has none.
type place struct{ stream, group, member, resharding string }

// placeOf decodes the parameters of the path once and checks them, in their order.
func (a *api) placeOf(r *http.Request) (place, error) {
	var at place
	parameters := chi.RouteContext(r.Context()).URLParams
	for i, name := range parameters.Keys {
		value, err := url.PathUnescape(parameters.Values[i])
		if err != nil {
			return place{}, invalid("%s is not encoded as a path asks", name)
		}
		switch name {
		case streamParameter:
			at.stream, err = value, refuse(protocol.CheckStreamPrefix(value, a.KeyPrefix))
		case groupParameter:
			at.group, err = value, refuse(protocol.CheckConsumerGroup(value))
		case memberParameter:
			at.member, err = value, refuse(protocol.CheckMemberID(value))
		case reshardingParameter:
			at.resharding, err = value, checkReshardingID(value)
		}
		if err != nil {
			return place{}, err
		}
	}
	return at, nil
}

// checkReshardingID answers for an id that none can have as for any other unknown one.
func checkReshardingID(id string) error {
	const characters = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-"
	if len(id) > maxReshardingID || strings.Trim(id, characters) != "" {
		return protocol.Errorf(protocol.CodeMigrationNotFound, "there is no resharding %q", protocol.Echo(id))
	}
	return nil
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
