package board

// options are those of the panel's kind.
func (p Panel) options() object {
	switch p.Kind {
	case KindStat:
		mode := "none"
		if p.Bad != nil {
			mode = "value"
		}
		return object{
			"colorMode": mode, "graphMode": "none", "justifyMode": "auto", "textMode": "value", "orientation": "auto",
			"wideLayout": true, "showPercentChange": false, "percentChangeColorMode": "standard",
			"reduceOptions": object{"calcs": []string{"lastNotNull"}, "fields": "", "values": false},
		}
	case KindGraph:
		return object{
			"legend":  object{"displayMode": "table", "placement": "bottom", "showLegend": true, "calcs": []string{"lastNotNull", "max"}},
			"tooltip": object{"mode": "multi", "sort": "desc"},
		}
	case KindTable:
		return object{
			"showHeader": true, "cellHeight": "sm", "frameIndex": 0, "footer": object{"show": false, "reducer": []string{}},
		}
	}
	return object{}
}

// defaults hold for all values of the panel. A line has a gap where nothing is known: it is
// not drawn through.
func (p Panel) defaults() object {
	defaults := object{
		"unit": p.Unit, "noValue": Unknown, "thresholds": p.thresholds(), "mappings": []object{nullIsUnknown()},
		"color": object{"mode": "thresholds"},
	}
	switch p.Kind {
	case KindGraph:
		defaults["color"] = object{"mode": "palette-classic"}
		defaults["custom"] = object{
			"drawStyle": "line", "lineWidth": 1, "fillOpacity": 0, "showPoints": "auto", "spanNulls": false,
			"axisSoftMin": 0, "thresholdsStyle": object{"mode": p.thresholdsStyle()},
		}
	case KindTable:
		defaults["custom"] = object{"align": "auto", "filterable": true, "inspect": true, "cellOptions": object{"type": "auto"}}
	case KindStat:
	}
	return defaults
}

func (p Panel) thresholdsStyle() string {
	if p.Bad != nil {
		return "line"
	}
	return "off"
}

// thresholds are steps of colours; the lowest one has no number.
func (p Panel) thresholds() object {
	steps := []object{{"color": "text", "value": nil}}
	switch {
	case p.Below && p.Bad != nil:
		steps = []object{{"color": "red", "value": nil}, {"color": "green", "value": *p.Bad}}
	case p.Warn != nil && p.Bad != nil:
		steps = []object{{"color": "green", "value": nil}, {"color": "orange", "value": *p.Warn}, {"color": "red", "value": *p.Bad}}
	}
	return object{"mode": "absolute", "steps": steps}
}

// nullIsUnknown shows what is null, or no number, as unknown.
func nullIsUnknown() object {
	return object{"type": "special", "options": object{
		"match": "null+nan", "result": object{"text": Unknown, "color": "text", "index": 0},
	}}
}
