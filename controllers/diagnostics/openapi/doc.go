// Package openapi describes the diagnostics API and the types it is made of in OpenAPI, so that kubectl can explain and
// validate it.
package openapi

//go:generate go tool -modfile=../../../tools/go.mod openapi-gen --output-dir . --output-pkg koordinator.sh/koord/controllers/diagnostics/openapi --output-file zz_generated.openapi.go --output-model-name-file zz_generated.model_name.go --readonly-pkg k8s.io/apimachinery/pkg/apis/meta/v1 --readonly-pkg k8s.io/apimachinery/pkg/api/resource --readonly-pkg k8s.io/apimachinery/pkg/runtime --readonly-pkg k8s.io/apimachinery/pkg/version --report-filename /dev/null --go-header-file /dev/null koordinator.sh/koord/api/diagnostics/v1alpha1 k8s.io/apimachinery/pkg/apis/meta/v1 k8s.io/apimachinery/pkg/api/resource k8s.io/apimachinery/pkg/runtime k8s.io/apimachinery/pkg/version
