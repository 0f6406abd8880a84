package pluginargs

import (
	"encoding/json"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Args holds arguments of type T as a runtime.Object.
type Args[T any] struct {
	metav1.TypeMeta
	// Value is what the plugin gets.
	Value T
}

// target is what JSON is decoded into.
func (a *Args[T]) target() any { return &a.Value }

// DeepCopyObject copies the arguments by way of their JSON, which is all that they are made from. It panics on arguments that JSON cannot
// hold, which a test of the registry rules out.
func (a *Args[T]) DeepCopyObject() runtime.Object {
	out := &Args[T]{TypeMeta: a.TypeMeta}
	encoded, err := json.Marshal(&a.Value)
	if err == nil {
		err = json.Unmarshal(encoded, &out.Value)
	}
	if err != nil {
		panic(fmt.Sprintf("copy %T: %v", a.Value, err))
	}
	return out
}

// Target is what the JSON of arguments is decoded into: the value that Args holds, and the object itself for all others.
func Target(object runtime.Object) any {
	if holder, ok := object.(interface{ target() any }); ok {
		return holder.target()
	}
	return object
}

// Of returns the arguments that a plugin was given.
func Of[T any](object runtime.Object) (*T, error) {
	holder, ok := object.(*Args[T])
	if !ok {
		return nil, fmt.Errorf("arguments are of type %T, want %T", object, new(T))
	}
	return &holder.Value, nil
}

// Validator turns a validation of T into one that the registry takes. Its error is an aggregate of *field.Error.
func Validator[T any](validate func(*T) field.ErrorList) func(runtime.Object) error {
	return func(object runtime.Object) error {
		args, err := Of[T](object)
		if err != nil {
			return err
		}
		if problems := validate(args); len(problems) > 0 {
			return problems.ToAggregate()
		}
		return nil
	}
}

// Defaulter turns a function that fills in defaults of T into one that the registry takes.
func Defaulter[T any](defaults func(*T)) func(runtime.Object) {
	return func(object runtime.Object) {
		if args, err := Of[T](object); err == nil {
			defaults(args)
		}
	}
}
