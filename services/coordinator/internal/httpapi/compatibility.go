package httpapi

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

// compatibility reports the protocols spoken here, with the running timing values in
// place of a protocol's defaults (wire contract).
func (a *api) compatibility(context.Context, http.ResponseWriter, *http.Request) (answer, error) {
	return answer{http.StatusOK, protocol.CompatibilityResponse{
		CurrentCoordinationVersion:    protocol.Version,
		SupportedCoordinationVersions: protocol.VersionRange{Min: protocol.MinVersion, Max: protocol.Version},
		CoordinationVersions: []protocol.VersionSupport{{
			Version:               1,
			Status:                "ACTIVE",
			IntroducedIn:          protocol.ReleaseVersion{Minor: 1, Version: "0.1.0"},
			MinimumSupportedUntil: protocol.ReleaseVersion{Major: 1, Version: "1.0.0"},
			TimingDefaults: protocol.TimingValues{
				HeartbeatInterval: isoDuration(a.Timing.HeartbeatInterval),
				MemberLeaseTTL:    isoDuration(a.Timing.MemberLease),
				RebalanceTimeout:  isoDuration(a.Timing.RebalanceTimeout),
			},
		}},
	}}, nil
}

// isoDuration writes d, which is not negative, as ISO 8601 does with the largest units
// first, for example PT1M or PT1H0.25S.
func isoDuration(d time.Duration) string {
	text := "PT"
	if hours := d / time.Hour; hours > 0 {
		text += strconv.FormatInt(int64(hours), 10) + "H"
	}
	if minutes := d % time.Hour / time.Minute; minutes > 0 {
		text += strconv.FormatInt(int64(minutes), 10) + "M"
	}
	if rest := d % time.Minute; rest > 0 || d == 0 {
		text += strconv.FormatFloat(rest.Seconds(), 'f', -1, 64) + "S"
	}
	return text
}
