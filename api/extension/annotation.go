package extension

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// MaxAnnotationBytes bounds a value before it is decoded: 256 KiB, what Kubernetes allows for all annotations of an
// object together.
const MaxAnnotationBytes = 256 << 10

// DecodeAnnotation decodes a JSON annotation. It returns nil without an error when the key is absent or empty.
// The value is bounded as DecodeJSON says.
func DecodeAnnotation[T any](annotations map[string]string, key string) (*T, error) {
	value, ok := annotations[key]
	if !ok || value == "" {
		return nil, nil
	}
	out := new(T)
	if err := DecodeJSON(value, MaxAnnotationBytes, out); err != nil {
		return nil, fmt.Errorf("decode annotation %q: %w", key, err)
	}
	return out, nil
}

// NamesAnnotation reports whether the text of an error says that it is about the annotation with a key, as the errors of
// DecodeAnnotation do.
func NamesAnnotation(text, key string) bool {
	return strings.Contains(text, fmt.Sprintf("annotation %q: ", key))
}

// EncodeAnnotation writes a value as a JSON annotation; nil removes the key.
func EncodeAnnotation[T any](obj metav1.Object, key string, value *T) error {
	if value == nil {
		removeAnnotation(obj, key)
		return nil
	}
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode annotation %q: %w", key, err)
	}
	if len(data) > MaxAnnotationBytes {
		return fmt.Errorf("encode annotation %q: %d bytes exceed the limit of %d", key, len(data), MaxAnnotationBytes)
	}
	setAnnotation(obj, key, string(data))
	return nil
}

// decodeOr is DecodeAnnotation for payloads that are a map or a slice; nil when absent.
func decodeOr[T any](annotations map[string]string, key string) (T, error) {
	value, err := DecodeAnnotation[T](annotations, key)
	if value == nil {
		var zero T
		return zero, err
	}
	return *value, err
}

// DecodeJSON decodes untrusted JSON of at most maxBytes. It refuses quantities whose exponents would make their
// parsing take minutes.
func DecodeJSON(value string, maxBytes int, out any) error {
	if len(value) > maxBytes {
		return fmt.Errorf("%d bytes exceed the limit of %d", len(value), maxBytes)
	}
	data := []byte(value)
	if err := checkExponents(data); err != nil {
		return err
	}
	return json.Unmarshal(data, out)
}

// maxExponentDigits allows 1e-999 and refuses 1e-1000. The largest power of ten a quantity can hold is 18.
const maxExponentDigits = 3

// checkExponents refuses a document with a number, or a string that is nothing but a number, whose exponent has more
// than three digits: resource.Quantity takes minutes of CPU and gigabytes of memory for a value as short as
// 1e-99999999.
func checkExponents(data []byte) error {
	if !bytes.ContainsAny(data, `eE\`) {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	for {
		token, err := decoder.Token()
		if err != nil {
			return nil // the end, or broken JSON, which the decoding proper reports
		}
		var text string
		switch t := token.(type) {
		case json.Number:
			text = t.String()
		case string:
			text = t
		}
		if hugeExponent(text) {
			return fmt.Errorf("number %.40q has an exponent of more than %d digits", text, maxExponentDigits)
		}
	}
}

// hugeExponent reports whether text is [sign]digits[.digits]e[sign]digits with too many digits at the end.
func hugeExponent(text string) bool {
	const digits = "0123456789"
	mantissa := bytes.TrimLeft([]byte(text), "+-")
	exponent := bytes.TrimLeft(mantissa, digits+".")
	if len(exponent) == len(mantissa) || len(exponent) == 0 || (exponent[0] != 'e' && exponent[0] != 'E') {
		return false
	}
	exponent = bytes.TrimLeft(exponent[1:], "+-")
	return len(exponent) > maxExponentDigits && len(bytes.Trim(exponent, digits)) == 0
}

// int32Annotation parses a decimal annotation. It returns the fallback without an error when the key is absent.
func int32Annotation(annotations map[string]string, key string, fallback int32) (int32, error) {
	value, ok := annotations[key]
	if !ok || value == "" {
		return fallback, nil
	}
	parsed, err := strconv.ParseInt(value, 10, 32)
	if err != nil {
		return fallback, fmt.Errorf("parse annotation %q: %.40q is not a 32-bit integer", key, value)
	}
	return int32(parsed), nil
}

func setAnnotation(obj metav1.Object, key, value string) {
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	obj.SetAnnotations(annotations)
}

func removeAnnotation(obj metav1.Object, key string) {
	annotations := obj.GetAnnotations()
	if _, ok := annotations[key]; !ok {
		return
	}
	delete(annotations, key)
	obj.SetAnnotations(annotations)
}
