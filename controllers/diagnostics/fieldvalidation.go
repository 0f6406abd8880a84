package diagnostics

import (
	"maps"
	"net/http"
	"slices"
	"strings"

	"k8s.io/kube-openapi/pkg/spec3"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// kubectl sends fieldValidation with the creation of an object, so that the server refuses unknown fields, only if the OpenAPI
// document describes a PATCH of the kind that takes that parameter. For kinds without one it asks whether they are
// CustomResourceDefinitions, and gives up where the user may not list those, which users of a namespace may not. Questions
// cannot be patched: the operation is described with its one answer, 405, and repeats the parameter, which kubectl does not
// look for among those of the whole path.
const (
	fieldValidation  = "fieldValidation"
	patchDescription = "Not supported: diagnostics kinds can only be created. The operation exists in the schema because kubectl looks for fieldValidation here."
	actionExtension  = "x-kubernetes-action"
)

// describePatchV3 adds the PATCH operation to every kind that can be created.
func describePatchV3(document *spec3.OpenAPI) (*spec3.OpenAPI, error) {
	if document.Paths == nil {
		return document, nil
	}
	for _, path := range document.Paths.Paths {
		if path == nil || path.Post == nil || path.Patch != nil {
			continue
		}
		var parameters []*spec3.Parameter
		for _, parameter := range slices.Concat(path.Parameters, path.Post.Parameters) {
			if names(parameter.Name, parameter.Ref) {
				parameters = append(parameters, parameter)
			}
		}
		path.Patch = &spec3.Operation{
			VendorExtensible: spec.VendorExtensible{Extensions: patchExtensions(path.Post.Extensions)},
			OperationProps: spec3.OperationProps{
				Tags: path.Post.Tags, Description: patchDescription, OperationId: patchID(path.Post.OperationId), Parameters: parameters,
				Responses: &spec3.Responses{ResponsesProps: spec3.ResponsesProps{StatusCodeResponses: map[int]*spec3.Response{
					http.StatusMethodNotAllowed: {ResponseProps: spec3.ResponseProps{Description: http.StatusText(http.StatusMethodNotAllowed)}},
				}}},
			},
		}
	}
	return document, nil
}

// describePatchV2 is describePatchV3 for clients that read version 2.
func describePatchV2(document *spec.Swagger) (*spec.Swagger, error) {
	if document.Paths == nil {
		return document, nil
	}
	for name, path := range document.Paths.Paths {
		if path.Post == nil || path.Patch != nil {
			continue
		}
		var parameters []spec.Parameter
		for _, parameter := range slices.Concat(path.Parameters, path.Post.Parameters) {
			if names(parameter.Name, parameter.Ref) {
				parameters = append(parameters, parameter)
			}
		}
		path.Patch = &spec.Operation{
			VendorExtensible: spec.VendorExtensible{Extensions: patchExtensions(path.Post.Extensions)},
			OperationProps: spec.OperationProps{
				Tags: path.Post.Tags, Description: patchDescription, ID: patchID(path.Post.ID), Parameters: parameters,
				Responses: &spec.Responses{ResponsesProps: spec.ResponsesProps{StatusCodeResponses: map[int]spec.Response{
					http.StatusMethodNotAllowed: {ResponseProps: spec.ResponseProps{Description: http.StatusText(http.StatusMethodNotAllowed)}},
				}}},
			},
		}
		document.Paths.Paths[name] = path
	}
	return document, nil
}

// names reports whether a parameter, or the shared one that it refers to, is fieldValidation.
func names(name string, reference spec.Ref) bool {
	return name == fieldValidation || strings.HasPrefix(reference.String(), "#/parameters/"+fieldValidation)
}

func patchExtensions(created spec.Extensions) spec.Extensions {
	out := maps.Clone(created)
	if out == nil {
		out = spec.Extensions{}
	}
	out[actionExtension] = "patch"
	return out
}

func patchID(created string) string { return strings.Replace(created, "create", "patch", 1) }
