package openapitest

import "github.com/getkin/kin-openapi/openapi3"

// closeAnswers makes every object of an answer refuse fields that its schema does not
// name. The document itself leaves answers open, as clients are to ignore such fields; a
// server's test must not.
func closeAnswers(spec *openapi3.T) {
	c := closer{}
	for _, item := range spec.Paths.Map() {
		for _, operation := range item.Operations() {
			c.responses(operation.Responses.Map())
		}
	}
	c.responses(spec.Components.Responses)
}

// closer knows the schemas that it has closed; shared ones are met often.
type closer map[*openapi3.Schema]struct{}

func (c closer) responses(responses map[string]*openapi3.ResponseRef) {
	for _, response := range responses {
		for _, media := range response.Value.Content {
			c.close(media.Schema)
		}
	}
}

func (c closer) close(ref *openapi3.SchemaRef) {
	if ref == nil || ref.Value == nil {
		return
	}
	schema := ref.Value
	if _, done := c[schema]; done {
		return
	}
	c[schema] = struct{}{}
	open := schema.AdditionalProperties.Has == nil && schema.AdditionalProperties.Schema == nil
	if len(schema.Properties) > 0 && open {
		no := false
		schema.AdditionalProperties.Has = &no
	}
	for _, property := range schema.Properties {
		c.close(property)
	}
	for _, list := range []openapi3.SchemaRefs{schema.AllOf, schema.AnyOf, schema.OneOf} {
		for _, part := range list {
			c.close(part)
		}
	}
	c.close(schema.Items)
	c.close(schema.AdditionalProperties.Schema)
}
