"""`MODEL_FAMILIES`: the family of image processors that each type of Hugging Face's models is prepared by. Configs of
some years name the model alone, in the `config.json` beside them."""

__all__ = ["MODEL_FAMILIES"]

_MODELS = {
    "Beit": "beit data2vec-vision",
    "Bit": "bit dinov2 focalnet hiera pixio",
    "Blip": "blip blip-2 instructblip",
    "CLIP": "aimv2 aimv2_vision_model altclip clip florence2 git groupvit kosmos-2 metaclip_2 mlcd vipllava xclip",
    "ChineseCLIP": "chinese_clip",
    "ConditionalDetr": "conditional_detr",
    "ConvNext": "convnext convnextv2 cvt regnet resnet",
    "DINOv3ViT": "dinov3_vit",
    "DPT": "depth_anything dpt",
    "DeformableDetr": "deformable_detr lw_detr",
    "DeiT": "deit",
    "Detr": "detr omdet-turbo table-transformer",
    "EfficientNet": "align efficientnet",
    "GLPN": "glpn",
    "GroundingDino": "grounding-dino",
    "Levit": "levit",
    "MobileNetV1": "mobilenet_v1",
    "MobileNetV2": "mobilenet_v2",
    "MobileViT": "mobilevit mobilevitv2",
    "PoolFormer": "poolformer",
    "Pvt": "pvt pvt_v2",
    "RTDetr": "deimv2 rt_detr",
    "Segformer": "segformer upernet",
    "Siglip": "colpali gemma3n paligemma siglip",
    "Swin2SR": "swin2sr",
    "ViT": "clipseg dinat ijepa mgp-str swiftformer swin swinv2 trocr vit vit_mae vit_msn",
}
MODEL_FAMILIES = {model: family for family, models in _MODELS.items() for model in models.split()}
