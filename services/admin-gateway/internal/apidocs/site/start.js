"use strict";

// Shows the document that the page names. Nothing is asked of another host: there is no
// validator, and the query cannot name another document.
const place = document.getElementById("document");
SwaggerUIBundle({
  domNode: place,
  url: new URL(place.dataset.spec, document.baseURI).href,
  presets: [SwaggerUIBundle.presets.apis],
  layout: "BaseLayout",
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  persistAuthorization: false,
  queryConfigEnabled: false,
  validatorUrl: null,
});
