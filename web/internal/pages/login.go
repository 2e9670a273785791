package pages

import (
	"context"
	"net/http"

	"github.com/redis-stream-coordinator/rsc/web/internal/model"
	"github.com/redis-stream-coordinator/rsc/web/internal/view"
)

// login shows the form, which the gateway takes, and why it was refused.
func (p *Pages) login(_ context.Context, r *http.Request, who visitor) (answer, error) {
	if who.known() {
		return see(Root), nil
	}
	query := r.URL.Query()
	form := model.NewLogin(query.Get("refused"), query.Get("wait"), query.Get("next"))
	return answer{body: view.LoginPage(p.frame(r, who, "Log in", "login"), form)}, nil
}
