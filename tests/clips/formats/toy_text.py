"""Small files in the shape of real ones: what the text readers are fuzzed from."""

BVH = b"""HIERARCHY
ROOT Hips
{
\tOFFSET 0.0 95.0 0.0
\tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
\tJOINT LeftArm
\t{
\t\tOFFSET 10 20 -1.5e0
\t\tCHANNELS 3 Zrotation Yrotation Xrotation
\t\tEnd Site
\t\t{
\t\t\tOFFSET 0 20 0
\t\t}
\t}
}
MOTION
Frames: 2
Frame Time: .0083333
1 2 3 10 20 30 40 50 60
-1 2 3 -10 200 30 40 50 1.2e-005
"""
ASF = b"""# toy
:units
  length 0.45
  angle deg
:root
   order TX TY TZ RX RY RZ
   axis XYZ
   position 0 0 0
   orientation 0 0 0
:bonedata
  begin
     name femur
     direction 0.34 -0.93 0
     length 7.4
     axis 10 -15 20 XYZ
     dof rx rz
  end
:hierarchy
  begin
    root femur
  end
"""
AMC = b""":FULLY-SPECIFIED
:DEGREES
1
root 1 2 3 10 20 30
femur -20 5
2
root 1 2 3.5 10 -20 30
femur 80 .5
"""
