package hookapi

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// Service is the name of the service on the wire.
const Service = "runtime.v1alpha1.RuntimeHookService"

// Hook is a moment at which servers of hooks are asked, as registrations name it.
type Hook string

// The hooks.
const (
	PreRunPodSandbox            Hook = "PreRunPodSandbox"
	PostStopPodSandbox          Hook = "PostStopPodSandbox"
	PreCreateContainer          Hook = "PreCreateContainer"
	PreStartContainer           Hook = "PreStartContainer"
	PostStartContainer          Hook = "PostStartContainer"
	PostStopContainer           Hook = "PostStopContainer"
	PreUpdateContainerResources Hook = "PreUpdateContainerResources"
)

// Hooks lists all hooks, those of pods first.
func Hooks() []Hook {
	return []Hook{PreRunPodSandbox, PostStopPodSandbox, PreCreateContainer, PreStartContainer, PostStartContainer, PostStopContainer, PreUpdateContainerResources}
}

// OfPod says whether a hook is about sandboxes; the others are about containers.
func (h Hook) OfPod() bool { return h == PreRunPodSandbox || h == PostStopPodSandbox }

// method is the hook's name on the wire.
func (h Hook) method() string { return string(h) + "Hook" }

// Server answers hooks. Both methods may be called at the same time.
type Server interface {
	// Pod answers PreRunPodSandbox and PostStopPodSandbox.
	Pod(context.Context, Hook, *PodSandboxHookRequest) (*PodSandboxHookResponse, error)
	// Container answers the other hooks.
	Container(context.Context, Hook, *ContainerResourceHookRequest) (*ContainerResourceHookResponse, error)
}

// Register makes a gRPC server answer hooks.
func Register(registrar grpc.ServiceRegistrar, server Server) {
	description := grpc.ServiceDesc{ServiceName: Service, HandlerType: (*Server)(nil), Metadata: "hook.proto"}
	for _, hook := range Hooks() {
		handler := answer(hook, server.Container)
		if hook.OfPod() {
			handler = answer(hook, server.Pod)
		}
		description.Methods = append(description.Methods, grpc.MethodDesc{MethodName: hook.method(), Handler: handler})
	}
	registrar.RegisterService(&description, server)
}

// message is a pointer to a message of type T.
type message[T any] interface {
	*T
	proto.Message
}

func answer[T any, Request message[T], Response proto.Message](hook Hook, call func(context.Context, Hook, Request) (Response, error)) grpc.MethodHandler {
	return func(_ any, ctx context.Context, decode func(any) error, interceptor grpc.UnaryServerInterceptor) (any, error) {
		request := Request(new(T))
		if err := decode(request); err != nil {
			return nil, err
		}
		handle := func(ctx context.Context, request any) (any, error) {
			typed, ok := request.(Request)
			if !ok {
				return nil, fmt.Errorf("decode the request of hook %q: unexpected type %T", hook, request)
			}
			return call(ctx, hook, typed)
		}
		if interceptor == nil {
			return handle(ctx, request)
		}
		return interceptor(ctx, request, &grpc.UnaryServerInfo{FullMethod: "/" + Service + "/" + hook.method()}, handle)
	}
}

// Client asks a server of hooks. All methods may be called at the same time.
type Client struct{ connection grpc.ClientConnInterface }

// NewClient returns a Client of a connection, which stays the caller's.
func NewClient(connection grpc.ClientConnInterface) *Client { return &Client{connection: connection} }

// Pod asks about a sandbox.
func (c *Client) Pod(ctx context.Context, hook Hook, request *PodSandboxHookRequest) (*PodSandboxHookResponse, error) {
	if !hook.OfPod() {
		return nil, errors.New("call hook " + string(hook) + ": not a sandbox hook")
	}
	response := &PodSandboxHookResponse{}
	return response, c.connection.Invoke(ctx, "/"+Service+"/"+hook.method(), request, response)
}

// Container asks about a container.
func (c *Client) Container(ctx context.Context, hook Hook, request *ContainerResourceHookRequest) (*ContainerResourceHookResponse, error) {
	if hook.OfPod() {
		return nil, errors.New("call hook " + string(hook) + ": not a container hook")
	}
	response := &ContainerResourceHookResponse{}
	return response, c.connection.Invoke(ctx, "/"+Service+"/"+hook.method(), request, response)
}
