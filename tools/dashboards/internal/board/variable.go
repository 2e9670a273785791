package board

import (
	"maps"
	"strings"
)

// What the data sources are called in the provisioning, and the variables that hold them.
const (
	prometheusUID  = "rsc-prometheus"
	prometheusType = "prometheus"
	apiUID         = "rsc-coordinator-api"
	apiType        = "yesoreyeram-infinity-datasource"
	// PrometheusVariable and APIVariable are the names of the variables.
	PrometheusVariable = "datasource"
	APIVariable        = "api"
)

func prometheusSource() object {
	return object{"type": prometheusType, "uid": "${" + PrometheusVariable + "}"}
}

func apiSource() object { return object{"type": apiType, "uid": "${" + APIVariable + "}"} }

// Variable is a choice at the head of a dashboard. The functions below make them.
type Variable struct {
	written object
}

func (v Variable) object() object { return v.written }

// Sources returns the choice of the data sources, which every dashboard begins with. They
// are preset to those of the provisioning.
func Sources() []Variable {
	source := func(name, label, kind, uid string) Variable {
		return Variable{object{
			"name": name, "label": label, "type": "datasource", "query": kind, "refresh": 1, "regex": "", "hide": 0,
			"multi": false, "includeAll": false, "options": []object{},
			"current": object{"selected": true, "text": uid, "value": uid},
		}}
	}
	return []Variable{
		source(PrometheusVariable, "Metrics", prometheusType, prometheusUID),
		source(APIVariable, "API", apiType, apiUID),
	}
}

// Options returns a choice that an endpoint of the API fills with __text and __value.
func Options(name, label, path string) Variable {
	rows := Rows{Path: path, Columns: []Column{{Field: "__text", Title: "__text", Unit: Text}, {Field: "__value", Title: "__value", Unit: Text}}}
	query := rows.query()
	query["refId"] = "variable"
	delete(query, "datasource")
	return Variable{object{
		"name": name, "label": label, "type": "query", "datasource": apiSource(), "definition": path,
		"query":   object{"queryType": "infinity", "query": "", "infinityQuery": query},
		"refresh": 2, "regex": "", "sort": 0, "hide": 0, "multi": false, "includeAll": false, "options": []object{}, "current": nothing(),
	}}
}

// AndAll returns the choice with an entry for all, which is written as value.
func (v Variable) AndAll(value string) Variable {
	written := maps.Clone(v.written)
	written["includeAll"], written["allValue"] = true, value
	written["current"] = object{"selected": true, "text": "All", "value": "$__all"}
	return Variable{written}
}

// Choice returns a choice of fixed values, of which the first is preset.
func Choice(name, label string, values ...string) Variable {
	options := make([]object, len(values))
	for i, value := range values {
		options[i] = object{"selected": i == 0, "text": value, "value": value}
	}
	return Variable{object{
		"name": name, "label": label, "type": "custom", "query": strings.Join(values, ","), "options": options, "current": options[0],
		"hide": 0, "multi": false, "includeAll": false,
	}}
}

// Input returns a field to write into, empty at first.
func Input(name, label string) Variable {
	return Variable{object{
		"name": name, "label": label, "type": "textbox", "query": "", "hide": 0, "current": nothing(), "options": []object{nothing()},
	}}
}

// Labels returns a choice of the values that a label of a metric has, with an entry for all.
func Labels(name, label, metric, of string) Variable {
	definition := "label_values(" + metric + ", " + of + ")"
	return Variable{object{
		"name": name, "label": label, "type": "query", "datasource": prometheusSource(), "definition": definition,
		"query":   object{"query": definition, "refId": "variable"},
		"refresh": 2, "regex": "", "sort": 1, "hide": 0, "multi": false, "options": []object{}, "current": nothing(),
	}}.AndAll(".*")
}

// nothing is a choice that is not made yet.
func nothing() object { return object{"selected": true, "text": "", "value": ""} }
