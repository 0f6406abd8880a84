package device

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/yaml"

	"koordinator.sh/koord/api/extension"
)

// maxTemplateBytes bounds the document of templates: what a ConfigMap can hold.
const maxTemplateBytes = 1 << 20

// Templates say how GPUs that are cut by the vendor's own means can be cut: the parts by template name, by VENDOR-MODEL.
type Templates map[string]map[string]Amount

// DecodeTemplates reads the data.yaml of the ConfigMap of shared-resource templates.
func DecodeTemplates(document string) (Templates, error) {
	if len(document) > maxTemplateBytes {
		return nil, fmt.Errorf("decode GPU shared-resource templates: %d bytes exceed the limit of %d", len(document), maxTemplateBytes)
	}
	converted, err := yaml.ToJSON([]byte(document))
	if err != nil {
		return nil, fmt.Errorf("decode GPU shared-resource templates: %w", err)
	}
	var written map[string]map[string]corev1.ResourceList
	if err := extension.DecodeJSON(string(json.RawMessage(converted)), 8*maxTemplateBytes, &written); err != nil {
		return nil, fmt.Errorf("decode GPU shared-resource templates: %w", err)
	}
	templates := Templates{}
	for model, parts := range written {
		templates[model] = map[string]Amount{}
		for name, list := range parts {
			templates[model][name] = amountOf(list)
		}
	}
	return templates, nil
}

// matching returns, by model, the name of the template that is exactly the amount. Among several, the first by name.
func (t Templates) matching(each *Amount) map[string]string {
	matched := map[string]string{}
	for model, parts := range t {
		for name, part := range parts {
			if known, found := matched[model]; part == *each && (!found || name < known) {
				matched[model] = name
			}
		}
	}
	return matched
}
