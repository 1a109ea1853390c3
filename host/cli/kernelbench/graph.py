"""What a task's module computes at one size, as a graph of ATen's operators that write nothing twice."""

import torch
from torch._decomp import core_aten_decompositions, get_decompositions
from torch.fx.experimental.proxy_tensor import make_fx

aten = torch.ops.aten

# Taken apart further than PyTorch's core, so that few operators are left.
FURTHER = """
    addmm baddbmm native_layer_norm native_group_norm native_batch_norm _native_batch_norm_legit
    _native_batch_norm_legit_functional _softmax _log_softmax nll_loss_forward leaky_relu elu hardtanh
    hardsigmoid hardswish softplus mish silu linalg_vector_norm norm mse_loss smooth_l1_loss huber_loss stack
    mv dot masked_fill tril triu logsumexp std var std_mean index_select glu native_dropout upsample_nearest2d
    upsample_bilinear2d log_sigmoid_forward softshrink hardshrink addcmul addcdiv lerp roll embedding
    split_with_sizes unbind instance_norm square logaddexp rsub frobenius_norm cosine_similarity lstm gru
    pixel_shuffle tanhshrink
""".split()


def traced(instance):
    """The graph, whose arguments are the parameters, the running buffers and the inputs."""
    table = dict(core_aten_decompositions())
    table.update(get_decompositions([getattr(aten, name) for name in FURTHER if hasattr(aten, name)]))
    named = instance.parameters | instance.running
    names = list(named)

    def call(*tensors):
        return instance.call(dict(zip(names, tensors)), tensors[len(names) :])

    tensors = [*named.values(), *instance.tensors]
    # Without its own kernels for recurrent layers, which cannot be taken apart.
    with torch.no_grad(), torch.backends.mkldnn.flags(enabled=False):
        functional = torch.func.functionalize(call)
        graph = make_fx(functional, decomposition_table=table, tracing_mode="fake", _allow_non_fake_inputs=True)(*tensors)
    for node in reversed(graph.graph.nodes):
        # What normalisation keeps for later.
        if node.op == "call_function" and node.target is aten.copy_.default and node.args[0].op == "placeholder":
            graph.graph.erase_node(node)
    graph.graph.eliminate_dead_code()
    return graph
