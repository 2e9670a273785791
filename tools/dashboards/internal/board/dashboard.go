// Package board describes dashboards and writes them as the JSON that Grafana reads. It knows
// the few kinds of panels that the project uses, and sees to what every one of them needs: a
// data source that is a variable, a unit, and that an unknown value is shown as unknown and
// never as 0 (monitoring, Prometheus).
package board

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// Tag is on every dashboard; the links at their heads go by it.
const Tag = "redis-stream-coordinator"

// Dashboard is one dashboard. All fields are required.
type Dashboard struct {
	// UID is its name in addresses. It never changes, as people keep links.
	UID         string
	Title       string
	Description string
	Variables   []Variable
	Sections    []Section
}

// Section is a titled part of a dashboard. Its panels fill lines from left to right.
type Section struct {
	Title  string
	Panels []Panel
}

// schemaVersion is that of Grafana 10; later ones read it.
const schemaVersion = 39

// object is a JSON object.
type object = map[string]any

// Text returns the dashboard as indented JSON that ends with a newline. The same dashboard is
// always the same text. It fails where something required is missing or a panel does not fit.
func (d Dashboard) Text() ([]byte, error) {
	if d.UID == "" || d.Title == "" || d.Description == "" {
		return nil, errors.New("write dashboard: uid, title and description are required")
	}
	panels, err := lay(d.Sections)
	if err != nil {
		return nil, fmt.Errorf("write dashboard %s: %w", d.UID, err)
	}
	variables := make([]object, len(d.Variables))
	for i, variable := range d.Variables {
		variables[i] = variable.object()
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false) // a reader sees > and not its number
	encoder.SetIndent("", "  ")
	err = encoder.Encode(object{
		"uid": d.UID, "title": d.Title, "description": d.Description, "tags": []string{Tag},
		"schemaVersion": schemaVersion, "editable": true, "graphTooltip": 1, "refresh": "30s",
		"time":        object{"from": "now-1h", "to": "now"},
		"timezone":    "browser",
		"templating":  object{"list": variables},
		"annotations": object{"list": []object{}},
		"links": []object{{
			"type": "dashboards", "title": "Redis Stream Coordinator", "tags": []string{Tag},
			"icon": "", "tooltip": "", "asDropdown": false, "includeVars": true, "keepTime": true, "targetBlank": false,
		}},
		"panels": panels,
	})
	if err != nil {
		return nil, fmt.Errorf("write dashboard %s: %w", d.UID, err)
	}
	return text.Bytes(), nil
}
