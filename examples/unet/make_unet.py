#!/usr/bin/env python3
"""Writes the ONNX model of a U-Net (Ronneberger et al., 2015; same padding, no normalization, random weights).

    python make_unet.py unet.onnx                     # 3 x 512 x 512 in, 2 x 512 x 512 out, 64 to 1,024 channels
    python make_unet.py small.onnx --side 128 --channels 8

Weights are in the file as raw floats. Needs numpy and onnx.
"""

import argparse

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Network:
    def __init__(self):
        self.nodes, self.weights, self.random = [], [], np.random.default_rng(1)

    def add(self, kind, name, *inputs, **attributes):
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def weight(self, name, *dims, fan):
        values = self.random.standard_normal(dims, np.float32) * np.float32(np.sqrt(2 / fan))
        self.weights.append(numpy_helper.from_array(values, name))
        return name

    def conv(self, name, x, inputs, outputs, kernel):
        w = self.weight(name + ".w", outputs, inputs, kernel, kernel, fan=inputs * kernel * kernel)
        b = self.weight(name + ".b", outputs, fan=outputs)
        return self.add("Conv", name, x, w, b, kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4)

    def block(self, name, x, inputs, outputs):
        """Two 3 x 3 convolutions."""
        for suffix, channels in (("a", inputs), ("b", outputs)):
            x = self.add("Relu", f"{name}{suffix}", self.conv(f"{name}{suffix}.conv", x, channels, outputs, 3))
        return x

    def up(self, name, x, inputs, outputs):
        w = self.weight(name + ".w", inputs, outputs, 2, 2, fan=inputs)
        return self.add("ConvTranspose", name, x, w, kernel_shape=[2, 2], strides=[2, 2])


def unet(side, channels, levels):
    net = Network()
    skips, x, width = [], "x", 3
    for level in range(levels):
        x = net.block(f"down{level}", x, width, channels << level)
        width = channels << level
        skips.append(x)
        x = net.add("MaxPool", f"pool{level}", x, kernel_shape=[2, 2], strides=[2, 2])
    x = net.block("bottom", x, width, channels << levels)
    for level in reversed(range(levels)):
        width = channels << level
        x = net.up(f"up{level}.t", x, width * 2, width)
        x = net.add("Concat", f"join{level}", skips[level], x, axis=1)
        x = net.block(f"up{level}", x, width * 2, width)
    net.conv("y", x, channels, 2, 1)
    value = lambda name, count: helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, count, side, side])
    graph = helper.make_graph(net.nodes, "unet", [value("x", 3)], [value("y", 2)], net.weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--side", type=int, default=512, help="rows and columns of the image")
    parser.add_argument("--channels", type=int, default=64, help="of the first level; each level has twice as many")
    parser.add_argument("--levels", type=int, default=4, help="times that the image is halved")
    args = parser.parse_args()
    if args.side % (1 << args.levels):
        parser.error(f"need a side that is a multiple of {1 << args.levels}, have {args.side}")
    onnx.save(unet(args.side, args.channels, args.levels), args.file)


if __name__ == "__main__":
    main()
