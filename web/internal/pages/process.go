package pages

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/redis-stream-coordinator/rsc/libs/auth"
	"github.com/redis-stream-coordinator/rsc/libs/httpx"
	"github.com/redis-stream-coordinator/rsc/libs/protocol"
)

func (c Config) processPath() string {
	return strings.TrimSuffix(cmp.Or(c.BasePath, protocol.BasePath), "/") + "/internal/system"
}

// process tells the gateway what runs here and with which settings, in the name of somebody who
// may read of all streams (gateway, Roles). It is no page: no path of the gateway leads to it.
func (p *Pages) process(w http.ResponseWriter, r *http.Request) {
	if err := p.mayAskForProcess(r); err != nil {
		p.answers.Error(w, r, err)
		return
	}
	told := p.cfg.Process
	if told.Configuration == nil {
		told.Configuration = []protocol.SystemSetting{}
	}
	p.answers.JSON(w, r, http.StatusOK, told)
}

func (p *Pages) mayAskForProcess(r *http.Request) error {
	token, err := httpx.Bearer(r.Header)
	if err != nil {
		return protocol.Errorf(protocol.CodeUnauthorized, "there is no token with this request; ask the gateway").Because(err)
	}
	claims, err := p.verifier.Verify(r.Context(), token)
	if err != nil {
		return protocol.Errorf(protocol.CodeUnauthorized, "the token is not one that the gateway has made for the console").Because(err)
	}
	if !claims.Principal().May(auth.Read, "") {
		return protocol.Errorf(protocol.CodeForbidden, "this needs the role READ for all streams")
	}
	return nil
}
